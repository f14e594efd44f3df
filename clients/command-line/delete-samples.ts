// Deletion of samples: counts them with a dry run, deletes no more than that, and waits for the operation.
import { setTimeout as pause } from 'node:timers/promises';
import type { Command, Run } from './command-form.ts';
import { deviceOf } from './device-commands.ts';
import { listOf } from './export-samples.ts';
import { textTable } from './text-table.ts';
import { UsageError } from './usage-error.ts';

const pollMs = 500;

export const samples: Command = {
  summary: 'delete stored samples of devices',
  words: ['delete', 'DEVICE,…'],
  options: {
    from: { type: 'string', value: 'TIME', help: 'start time, ISO 8601, inclusive' },
    to: { type: 'string', value: 'TIME', help: 'end time, ISO 8601, exclusive' },
    topics: { type: 'string', value: 'TOPIC,…', help: 'all topics by default' },
    keys: { type: 'string', value: 'KEY,…', help: 'data keys to remove; whole samples by default' },
    all: { type: 'boolean', help: 'required without --from, --to, --topics, and --keys' },
    'raw-uplinks': { type: 'boolean', help: 'delete the kept raw uplinks of the time, too' },
    reason: { type: 'string', value: 'STRING', help: 'reason for the audit log' },
    'dry-run': { type: 'boolean', help: 'only count the samples' },
  },
  async run(run) {
    const { client, options, isJson, write, signal, words } = run;
    const [work, names] = words;
    if (work !== 'delete' || names === undefined)
      throw new UsageError('specify what to do: samples delete DEVICE,…');
    const body = await bodyOf(run, names);
    const preview = await client.post('/v3/samples/delete', {
      body: { ...body, dryRun: true },
      signal,
    });
    if (!('dryRun' in preview)) throw new Error('the platform made no dry run');
    const { samples: count, rawUplinks = 0, devices, byTopic, exports } = preview;
    const told = rawUplinks > 0 ? ` and ${rawUplinks} raw uplinks` : '';
    if (options['dry-run'] === true) {
      if (isJson) return write(`${JSON.stringify(preview)}\n`);
      const rows = byTopic.map((one) => [one.topic, String(one.samples), one.oldest, one.newest]);
      await write(textTable(['TOPIC', 'SAMPLES', 'OLDEST', 'NEWEST'], rows));
      await write(`${count} samples of ${devices} devices${told}\n`);
      if (exports.length > 0)
        await write(`${exports.length} kept exports may contain these samples\n`);
      return;
    }
    if (count + rawUplinks > 0) {
      const sent = { ...body, samplesMax: count };
      const accepted = await client.post('/v3/samples/delete', { body: sent, signal });
      if ('id' in accepted) await completed(run, accepted.id);
    }
    if (isJson) await write(`${JSON.stringify({ samples: count, devices })}\n`);
    else await write(`${count} samples of ${devices} devices${told} deleted\n`);
  },
};

async function bodyOf(run: Run, names: string) {
  const { client, signal, options } = run;
  const { from, to, topics, keys, all, reason, 'raw-uplinks': rawUplinks } = options;
  const deviceIds: string[] = [];
  for (const name of listOf(names) ?? []) deviceIds.push((await deviceOf(run, name)).id);
  const [first = ''] = deviceIds;
  const { workspaceId } = await client.get('/v3/devices/{id}', { path: { id: first }, signal });
  const lists = { topics: listOf(topics), keys: listOf(keys) };
  return {
    workspaceId,
    deviceIds,
    ...(from !== undefined && { from: String(from) }),
    ...(to !== undefined && { to: String(to) }),
    ...(lists.topics && { topics: lists.topics }),
    ...(lists.keys && { keys: lists.keys }),
    ...(all === true && { all: true }),
    ...(rawUplinks === true && { rawUplinks }),
    ...(reason !== undefined && { reason: String(reason) }),
  };
}

/** Waits for the operation. Throws when a device could not be done, or it was canceled. */
export async function completed({ client, signal }: Run, id: string): Promise<void> {
  for (;;) {
    const query = { actions: 'failed' } as const;
    const found = await client.get('/v3/operations/{id}', { path: { id }, query, signal });
    if (found.completed !== null) {
      const [failed] = found.actions;
      if (failed !== undefined) throw new Error(`${failed.data.name}: ${failed.data.error ?? ''}`);
      if (found.canceled) throw new Error('the operation was canceled');
      return;
    }
    await pause(pollMs, undefined, { signal });
  }
}
