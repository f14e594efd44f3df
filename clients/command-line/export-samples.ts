// Export of samples: begins an export of many devices, waits for it, and downloads its file in ranges.
import { open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { Option, Run } from './command-form.ts';
import { deviceOf } from './device-commands.ts';
import { UsageError } from './usage-error.ts';

/** What `export samples` takes besides the options of `export`. */
export const exportSamplesOptions: Readonly<Record<string, Option>> = {
  file: { type: 'string', value: 'FILE', help: 'of samples: written' },
  devices: { type: 'string', value: 'DEVICE,…', help: 'of samples: all by default' },
  tags: { type: 'string', value: 'TAG_ID,…', help: 'of samples: devices with one of the tags' },
  topics: { type: 'string', value: 'TOPIC,…', help: 'of samples: all by default' },
  keys: { type: 'string', value: 'KEY,…', help: 'of samples: all data by default' },
};

const pollMs = 1_000;
/** A range is one try of a call, which has a limit of time. */
const rangeBytes = 8 * 1024 * 1024;

const formats = ['parquet', 'ndjson', 'csv'] as const;

/** The export is deleted at its end, and also when the command is interrupted. */
export async function exportSamples(run: Run): Promise<void> {
  const { client, signal, options, isJson, write } = run;
  const { workspace, file } = options;
  if (workspace === undefined || file === undefined)
    throw new UsageError('export samples needs --workspace ID and --file FILE');
  const body = await bodyOf(run, String(workspace));
  const { id } = await client.post('/v3/exports', { body, signal });
  const path = { id };
  try {
    const done = await completed(run, id);
    await download(run, { id, bytes: done.bytes, file: String(file) });
    const { samples, bytes, incomplete } = done;
    if (isJson) await write(`${JSON.stringify({ file, samples, bytes, incomplete })}\n`);
    else await write(`${samples} samples, ${bytes} bytes in ${file}\n`);
    if (incomplete) throw new Error('some samples could not be read and are not in the file');
  } finally {
    // Also after an interruption, whose signal would end this call.
    await client.delete('/v3/exports/{id}', { path });
  }
}

async function bodyOf(run: Run, workspaceId: string) {
  const { from, to, format = 'parquet', devices, tags, topics, keys } = run.options;
  const known = formats.find((one) => one === format);
  if (known === undefined)
    throw new UsageError(`--format ${format} is none of ${formats.join(', ')}`);
  const deviceIds: string[] = [];
  for (const name of listOf(devices) ?? []) deviceIds.push((await deviceOf(run, name)).id);
  const lists = { tagIds: listOf(tags), topics: listOf(topics), keys: listOf(keys) };
  return {
    workspaceId,
    format: known,
    ...(from !== undefined && { from: String(from) }),
    ...(to !== undefined && { to: String(to) }),
    ...(deviceIds.length > 0 && { deviceIds }),
    ...(lists.tagIds && { tagIds: lists.tagIds }),
    ...(lists.topics && { topics: lists.topics }),
    ...(lists.keys && { keys: lists.keys }),
  };
}

/** Undefined without the option. Throws UsageError for an option without a value. */
export function listOf(option: string | boolean | undefined): string[] | undefined {
  if (option === undefined) return undefined;
  const values = String(option)
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
  if (values.length === 0) throw new UsageError(`"${option}" names nothing`);
  return values;
}

/** Throws when the export fails. */
async function completed({ client, signal, report, isJson }: Run, id: string) {
  let shown = '';
  for (;;) {
    const found = await client.get('/v3/exports/{id}', { path: { id }, signal });
    if (found.state === 'COMPLETE') return found;
    if (found.state === 'FAILED') throw new Error(`${found.errorCode}: ${found.error}`);
    const line = `${found.devicesDone} of ${found.devices} devices, ${found.samples} samples`;
    if (!isJson && line !== shown) report(line);
    shown = line;
    await pause(pollMs, undefined, { signal });
  }
}

async function download(
  { client, signal }: Run,
  { id, bytes, file }: { readonly id: string; readonly bytes: number; readonly file: string },
): Promise<void> {
  const target = await open(file, 'w');
  try {
    for (let from = 0; from < bytes; from += rangeBytes) {
      const to = Math.min(from + rangeBytes, bytes) - 1;
      const headers = { range: `bytes=${from}-${to}` };
      const call = { path: { id }, headers, signal };
      const answer = await client.send('get', '/v3/exports/{id}/content', call);
      await target.write(new Uint8Array(await answer.arrayBuffer()), 0, undefined, from);
    }
  } finally {
    await target.close();
  }
}
