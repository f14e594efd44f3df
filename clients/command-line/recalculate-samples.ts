// Recalculation of samples: shows what would change with a dry run, or changes it and waits for the operation.
import type { Command, Run } from './command-form.ts';
import { completed } from './delete-samples.ts';
import { deviceOf } from './device-commands.ts';
import { listOf } from './export-samples.ts';
import { UsageError } from './usage-error.ts';

export const types: Command = {
  summary: 'recalculate stored samples of a device type',
  words: ['recalculate', 'TYPE'],
  options: {
    source: {
      type: 'string',
      value: 'SAMPLES|UPLINKS',
      help: 'compute calculated keys again, or decode kept raw uplinks again; SAMPLES by default',
    },
    devices: { type: 'string', value: 'DEVICE,…', help: 'all devices of the type by default' },
    workspace: { type: 'string', value: 'ID', help: 'required for a type used in several' },
    from: { type: 'string', value: 'TIME', help: 'start time, ISO 8601, inclusive' },
    to: { type: 'string', value: 'TIME', help: 'end time, ISO 8601, exclusive' },
    'dry-run': { type: 'boolean', help: 'only show what would change, of up to 50 devices' },
  },
  async run(run) {
    const { client, options, isJson, write, signal, words } = run;
    const [work, name] = words;
    if (work !== 'recalculate' || name === undefined)
      throw new UsageError('specify what to do: types recalculate TYPE');
    const call = { path: { id: await typeOf(run, name) }, body: await bodyOf(run), signal };
    const answer = await client.post('/v3/device-types/{id}/recalculate', call);
    if (!('id' in answer)) {
      if (isJson) return write(`${JSON.stringify(answer)}\n`);
      for (const { deviceId, topic, timestamp, ...one } of answer.differences) {
        await write(`${timestamp} ${deviceId} ${topic}\n`);
        await write(`  - ${JSON.stringify(one.old)}\n  + ${JSON.stringify(one.new)}\n`);
      }
      const part = answer.complete ? '' : ' computed so far';
      return write(`${answer.changed} of ${answer.samples} samples${part} would change\n`);
    }
    if (options['dry-run'] === true) throw new Error('the platform made no dry run');
    await completed(run, answer.id);
    const total = { samples: 0, devices: answer.totalActionsRequired };
    for (let page = 0, isLast = false; !isLast; page += 1) {
      const query = { page, size: actionsPerPage };
      const path = { id: answer.id };
      const found = await client.get('/v3/operations/{id}/actions', { path, query, signal });
      for (const { data } of found.content) {
        total.samples += data.samples ?? 0;
        if (data.reason !== undefined) run.report(`${data.name}: ${data.reason}`);
      }
      isLast = found.last;
    }
    if (isJson) return write(`${JSON.stringify(total)}\n`);
    return write(`${total.samples} samples of ${total.devices} devices changed\n`);
  },
};

const actionsPerPage = 1_000;

/** By name, else by ID. Throws for a name that several types have. */
async function typeOf({ client, signal }: Run, name: string): Promise<string> {
  const found = await client.get('/v3/device-types', {
    query: { search: name, size: 100 },
    signal,
  });
  const named = found.content.filter((type) => type.name === name);
  if (named.length > 1) throw new UsageError(`several device types are named ${name}; use an ID`);
  return named[0]?.id ?? name;
}

async function bodyOf(run: Run) {
  const { source = 'SAMPLES', devices, workspace, from, to, 'dry-run': dryRun } = run.options;
  if (source !== 'SAMPLES' && source !== 'UPLINKS')
    throw new UsageError(`Invalid --source ${source}: it must be SAMPLES or UPLINKS`);
  const deviceIds: string[] = [];
  for (const name of listOf(devices) ?? []) deviceIds.push((await deviceOf(run, name)).id);
  return {
    source,
    ...(deviceIds.length > 0 && { deviceIds }),
    ...(workspace !== undefined && { workspaceId: String(workspace) }),
    ...(from !== undefined && { from: String(from) }),
    ...(to !== undefined && { to: String(to) }),
    ...(dryRun === true && { dryRun }),
  } as const;
}
