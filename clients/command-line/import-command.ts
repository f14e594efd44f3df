// Import command: applies the configuration of a workspace, or takes over what another platform exported.
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import type { PlannedLine } from '../importers/import-plan.ts';
import { type ImportSummary, runImport } from '../importers/import-run.ts';
import { isServer, placePathOf } from '../importers/sample-transfer.ts';
import { sources } from '../importers/source-table.ts';
import type { Command, Run } from './command-form.ts';
import { shown } from './text-table.ts';
import { UsageError } from './usage-error.ts';

const sourceNames = Object.keys(sources).join('|');

export const importFiles: Command = {
  summary: `apply a configuration to a workspace, or import from ${sourceNames.replaceAll('|', ', ')}`,
  words: [`[${sourceNames}]`, 'FILE...'],
  options: {
    workspace: { type: 'string', value: 'ID', help: 'the workspace' },
    'dry-run': { type: 'boolean', help: 'of another platform: says what it would do' },
    connector: { type: 'string', value: 'NAME', help: 'of its devices; else one is created' },
    device: { type: 'string', value: 'TEMPLATE', help: 'influxdb: the device, such as {host}' },
    topic: { type: 'string', value: 'TEMPLATE', help: 'influxdb: {measurement} by default' },
    database: { type: 'string', value: 'NAME', help: 'influxdb: only this database' },
    work: {
      type: 'string',
      value: 'FOLDER',
      help: 'influxdb: for sorting; three times the export',
    },
  },
  async run(run) {
    const { words, options } = run;
    const [first = '', ...files] = words;
    const { workspace } = options;
    if (workspace === undefined) throw new UsageError('name the workspace with --workspace ID');
    if (Object.hasOwn(sources, first)) await importFrom(run, first, files, String(workspace));
    else if (files.length > 0)
      throw new UsageError(`"${first}" is not one of ${sourceNames.replaceAll('|', ', ')}`);
    else await importDocument(run, first, String(workspace));
  },
};

async function importDocument(run: Run, path: string, id: string): Promise<void> {
  const { client, isJson, write, signal } = run;
  const body = readFileSync(path, 'utf8');
  const call = { path: { id }, body, signal };
  const answer = await client.send('put', '/v3/workspaces/{id}/configuration', call);
  const report = (await answer.json()) as Record<string, unknown>;
  await write(`${JSON.stringify(report, undefined, isJson ? undefined : 2)}\n`);
}

async function importFrom(
  { client, options, isJson, write, signal, report }: Run,
  name: string,
  files: readonly string[],
  workspaceId: string,
): Promise<void> {
  const source = sources[name];
  if (source === undefined || files.length === 0) throw new UsageError('name the files to import');
  const text = (option: string): string | undefined => {
    const value = options[option];
    return typeof value === 'string' ? value : undefined;
  };
  try {
    const summary = await runImport({
      client,
      workspaceId,
      source,
      files,
      connector: text('connector'),
      options: {
        device: text('device')?.split(','),
        topic: text('topic'),
        database: text('database'),
        work: text('work') ?? tmpdir(),
        thingsBoard: thingsBoardCredentials(process.env),
        signal,
      },
      isDryRun: options['dry-run'] === true,
      report: (line) => write(isJson ? `${JSON.stringify(line)}\n` : lineText(line)),
    });
    await write(isJson ? `${JSON.stringify({ summary })}\n` : summaryText(summary));
    const errors = summary.items.error;
    if (errors > 0) throw new Error(`${errors} errors: the lines above say what is not imported`);
  } catch (error) {
    if (signal.aborted) report(resumeText(files));
    throw error;
  }
}

function resumeText(files: readonly string[]): string {
  if (files.some(isServer)) return 'stopped; the same command stores what is missing';
  return `stopped; the same command resumes at ${placePathOf(files)}`;
}

/** From the environment, because others see the list of processes. */
function thingsBoardCredentials(environment: Readonly<Record<string, string | undefined>>) {
  const { THINGSBOARD_TOKEN, THINGSBOARD_USERNAME, THINGSBOARD_PASSWORD } = environment;
  return {
    token: THINGSBOARD_TOKEN,
    username: THINGSBOARD_USERNAME,
    password: THINGSBOARD_PASSWORD,
  };
}

function lineText({ outcome, kind, name, place, reason }: PlannedLine): string {
  const where = place === null ? '' : `  (${place.file}:${place.line})`;
  const why = reason === undefined ? '' : `: ${reason}`;
  return `${outcome.padEnd(6)}  ${kind} ${shown(name)}${shown(why)}${where}\n`;
}

function summaryText({ dryRun, items, samples }: ImportSummary): string {
  const { create, update, same, skip, error } = items;
  const counts = `${create} to create, ${update} to update, ${same} the same, ${skip} skipped, ${error} errors`;
  if (dryRun) return `dry run: ${counts}; ${samples.stored} samples to send\n`;
  const { stored, duplicates, rejected, resumed } = samples;
  const done = counts.replaceAll(' to create', ' created').replaceAll(' to update', ' updated');
  return `${done}; samples: ${stored} stored, ${duplicates} were stored already, ${rejected} rejected, ${resumed} sent by an earlier run\n`;
}
