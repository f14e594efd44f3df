// Device commands: the devices of a platform, their stored samples, and what they send now.
import { HeliographError, type LiveMessage } from '../typescript/client.ts';
import type { Command, Run } from './command-form.ts';
import { textTable } from './text-table.ts';
import { UsageError } from './usage-error.ts';

const serviceId = /^[0-9a-f]{16}$/;

interface NamedDevice {
  readonly id: string;
  readonly deviceId: string;
  readonly name: string;
}

/** A device by its physical id, else by its service id. Throws HeliographError 404. */
export async function deviceOf({ client, signal }: Run, name: string): Promise<NamedDevice> {
  try {
    return await client.get('/v3/devices/by-device-id', { query: { deviceId: name }, signal });
  } catch (error) {
    const isUnknown = error instanceof HeliographError && error.status === 404;
    if (!isUnknown || !serviceId.test(name)) throw error;
    return client.get('/v3/devices/{id}', { path: { id: name }, signal });
  }
}

/** What the command is about. Throws UsageError unless exactly one of both is named. */
export function deviceOrWorkspace({
  words: [device],
  options: { workspace },
}: Pick<Run, 'words' | 'options'>): { readonly device: string } | { readonly workspace: string } {
  if (device !== undefined && workspace === undefined) return { device };
  if (device === undefined && workspace !== undefined) return { workspace: String(workspace) };
  throw new UsageError('specify a device, or a workspace with --workspace ID');
}

function limitOf({ options }: Run, fallback: number, max: number): number {
  const { limit = String(fallback) } = options;
  const count = Number(limit);
  if (Number.isInteger(count) && count >= 1 && count <= max) return count;
  throw new UsageError(`Invalid --limit ${limit}: it must be an integer from 1 to ${max}`);
}

export const devices: Command = {
  summary: 'list devices',
  words: [],
  options: {
    search: { type: 'string', value: 'STRING', help: 'filter by name or id' },
    limit: { type: 'string', value: 'COUNT', help: 'maximum number of devices (default 100)' },
  },
  async run(run) {
    const { client, options, isJson, write, signal } = run;
    const limit = limitOf(run, 100, 1_000_000);
    const { search } = options;
    const query = { size: Math.min(limit, 200) };
    const workspaceIds: string[] = [];
    for await (const { id } of client.pages('/v3/workspaces', { signal })) workspaceIds.push(id);
    const body = { workspaceIds, ...(typeof search === 'string' && { search }) };
    const rows: string[][] = [];
    let count = 0;
    for await (const device of client.pagesOf('/v3/assets/list', { query, body, signal })) {
      const { id, deviceId, name, onlineState } = device as NamedDevice & { onlineState: string };
      if (isJson) await write(`${JSON.stringify(device)}\n`);
      else rows.push([deviceId, name, onlineState, id]);
      count++;
      if (count >= limit) break;
    }
    if (!isJson) await write(textTable(['DEVICE ID', 'NAME', 'STATE', 'ID'], rows));
  },
};

export const query: Command = {
  summary: 'query stored samples, newest first',
  words: ['DEVICE'],
  options: {
    from: { type: 'string', value: 'TIME', help: 'start time, ISO 8601, inclusive' },
    to: { type: 'string', value: 'TIME', help: 'end time, ISO 8601, exclusive' },
    topic: { type: 'string', value: 'TOPIC', help: 'all topics by default' },
    limit: { type: 'string', value: 'COUNT', help: 'limit; 20 by default' },
  },
  async run(run) {
    const { client, words, options, isJson, write, signal } = run;
    const limit = limitOf(run, 20, 1_000);
    const { id: deviceId } = await deviceOf(run, words[0] ?? '');
    const { from, to, topic = '*' } = options;
    const times = {
      ...(from !== undefined && { gte: String(from) }),
      ...(to !== undefined && { lt: String(to) }),
    };
    const body = { topic: String(topic), limit, ...(from || to ? { timestamp: times } : {}) };
    const call = { path: { deviceId }, body, signal };
    const samples = await client.post('/v3/devices/{deviceId}/query', call);
    if (isJson) {
      for (const sample of samples) await write(`${JSON.stringify(sample)}\n`);
      return;
    }
    const rows = samples.map((one) => [one.timestamp, one.topic, JSON.stringify(one.data)]);
    await write(textTable(['TIME', 'TOPIC', 'DATA'], rows));
  },
};

export const why: Command = {
  summary: 'say where the last uplink of a device broke',
  words: ['DEVICE'],
  options: {
    at: { type: 'string', value: 'TIME', help: 'the newest uplink until then, ISO 8601' },
    uplink: { type: 'string', value: 'ID', help: 'correlation ID of the uplink' },
    topic: { type: 'string', value: 'TOPIC', help: 'topic that was expected' },
    'data-key': { type: 'string', value: 'KEY', help: 'data key that was expected' },
    rule: { type: 'string', value: 'ID', help: 'rule that was expected to fire' },
    output: { type: 'string', value: 'ID', help: 'output connector that was expected to get it' },
  },
  async run(run) {
    const { client, words, options, isJson, write, signal } = run;
    const { id } = await deviceOf(run, words[0] ?? '');
    const asked = {
      at: options['at'],
      correlationId: options['uplink'],
      topic: options['topic'],
      dataKey: options['data-key'],
      ruleId: options['rule'],
      outputConnectorId: options['output'],
    };
    const given = Object.entries(asked).filter(([, value]) => value !== undefined);
    const query = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
    const trace = await client.get('/v3/devices/{id}/trace', { path: { id }, query, signal });
    if (isJson) return write(`${JSON.stringify(trace)}\n`);
    const { verdict, steps } = trace;
    const rows = steps.map(({ kind, state, at, text }) => [kind, state, at ?? '-', text]);
    await write(textTable(['STEP', 'STATE', 'TIME', 'WHAT'], rows));
    await write(`\n${verdict.code}: ${verdict.text}\n`);
    if (verdict.fix !== null) await write(`${verdict.fix.text}\n`);
  },
};

export const summarize: Command = {
  summary: 'calculate one value of a data key, or one per bucket',
  words: ['DEVICE', 'KEY', 'ACCUMULATOR'],
  options: {
    from: { type: 'string', value: 'TIME', help: 'start time, ISO 8601, inclusive; required' },
    to: { type: 'string', value: 'TIME', help: 'end time, ISO 8601, exclusive; now by default' },
    bucket: { type: 'string', value: 'DURATION', help: 'such as P1D; one value by default' },
    topic: { type: 'string', value: 'TOPIC', help: 'default by default' },
    'time-zone': { type: 'string', value: 'ZONE', help: 'time zone of the buckets' },
    per: { type: 'string', value: 'DURATION', help: 'unit of time of RATE and INTEGRAL' },
    state: { type: 'string', value: 'TEXT', help: 'state of TIME_IN_STATE' },
    expression: { type: 'boolean', help: 'KEY is an expression over data keys' },
  },
  async run(run) {
    const { client, words, options, isJson, write, signal } = run;
    const { from, to = new Date().toISOString(), topic = 'default', bucket, per, state } = options;
    if (from === undefined) throw new UsageError('specify the start time with --from TIME');
    const { id: deviceId } = await deviceOf(run, words[0] ?? '');
    const zone = options['time-zone'];
    const body = {
      topic: String(topic),
      ...(options['expression'] === true
        ? { expression: words[1] ?? '' }
        : { dataKey: words[1] ?? '' }),
      accumulator: words[2] ?? '',
      interval: { from: String(from), to: String(to) },
      ...(per !== undefined && { per: String(per) }),
      ...(state !== undefined && { state: String(state) }),
      ...(zone !== undefined && { timeZone: String(zone) }),
    };
    const path = { deviceId };
    if (bucket === undefined) {
      const found = await client.post('/v3/devices/{deviceId}/query/raw/kpi', {
        ...{ path, body, signal },
      });
      const { kpi, value, coverage } = found;
      if (isJson) await write(`${JSON.stringify(found)}\n`);
      else await write(`${value ?? kpi ?? '-'}${coveredText(coverage)}\n`);
      return;
    }
    const series = await client.post('/v3/devices/{deviceId}/query/raw/time-series', {
      ...{ path, body: { ...body, bucketInterval: String(bucket) }, signal },
    });
    if (isJson) {
      await write(`${JSON.stringify(series)}\n`);
      return;
    }
    const rows = series.timestamps.map((at, i) => [
      at,
      String(series.dataPoints[i] ?? '-'),
      coveredText(series.coverage?.[i]).trim(),
    ]);
    await write(textTable(['TIME', 'VALUE', 'COVERED'], rows));
  },
};

function coveredText(coverage: number | undefined): string {
  return coverage === undefined ? '' : ` ${Math.round(coverage * 100)} %`;
}

export const tail: Command = {
  summary: 'follow samples live; Ctrl-C stops',
  words: ['[DEVICE]'],
  options: {
    workspace: { type: 'string', value: 'ID', help: 'of all devices of the workspace' },
    since: {
      type: 'string',
      value: 'TIME',
      help: 'of a device: samples stored since then come first',
    },
    limit: { type: 'string', value: 'COUNT', help: 'stop after this many samples' },
  },
  async run(run) {
    const { client, options, isJson, write, signal } = run;
    const limit =
      options['limit'] === undefined ? Number.POSITIVE_INFINITY : limitOf(run, 1, 1_000_000_000);
    const { since } = options;
    const about = deviceOrWorkspace(run);
    const item =
      'workspace' in about
        ? { workspaceId: about.workspace, kinds: ['SAMPLE'] }
        : { assetId: (await deviceOf(run, about.device)).id, topic: '*' };
    const resume = since === undefined ? {} : { since: String(since) };
    let count = 0;
    for await (const message of client.live({ subscriptions: [item], signal, ...resume })) {
      if (message.type === 'subscribed') run.report('following; press Ctrl-C to stop');
      const line = lineOf(message, isJson);
      if (line === undefined) continue;
      await write(`${line}\n`);
      if (message.type === 'sample_insert') count++;
      if (count >= limit) return;
    }
  },
};

/** Undefined for messages other than samples and what is missing. */
function lineOf(message: LiveMessage, isJson: boolean): string | undefined {
  if (message.type === 'sample_insert') {
    const { sample } = message;
    if (isJson) return JSON.stringify(message);
    return `${sample.timestamp}  ${sample.deviceId}  ${sample.topic}  ${JSON.stringify(sample.data)}`;
  }
  const isGap = message.type === 'event' && 'leftOut' in message;
  return isGap || message.type === 'unsubscribed' ? JSON.stringify(message) : undefined;
}
