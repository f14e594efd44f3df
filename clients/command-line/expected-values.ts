// Expected values: what is usual for a value by hour, and when it reaches a target.
import type { Command } from './command-form.ts';
import { deviceOf } from './device-commands.ts';
import { listOf } from './export-samples.ts';
import { textTable } from './text-table.ts';
import { UsageError } from './usage-error.ts';

const dayMs = 86_400_000;
/** Devices of one answer. */
const devicesMax = 1_000;

const common = {
  topic: { type: 'string', value: 'TOPIC', help: 'default by default' },
  'time-zone': { type: 'string', value: 'ZONE', help: 'that of the workspace by default' },
} as const;

function given(options: Readonly<Record<string, string | boolean | undefined>>) {
  const { topic = 'default', 'time-zone': timeZone } = options;
  return { topic: String(topic), ...(timeZone !== undefined && { timeZone: String(timeZone) }) };
}

const sensitivities = ['LOW', 'MEDIUM', 'HIGH'] as const;

const figure = (value: number | null | undefined): string =>
  value === null || value === undefined ? '-' : String(Number(value.toPrecision(6)));

export const expected: Command = {
  summary: 'show what is usual for a value in each hour',
  words: ['DEVICE', 'KEY'],
  options: {
    from: { type: 'string', value: 'TIME', help: 'start time, ISO 8601; a day ago by default' },
    to: { type: 'string', value: 'TIME', help: 'end time, ISO 8601; now by default' },
    sensitivity: {
      type: 'string',
      value: 'LOW|MEDIUM|HIGH',
      help: 'width of the range; HIGH is the narrowest, MEDIUM by default',
    },
    ...common,
  },
  async run(run) {
    const { client, words, options, isJson, write, signal } = run;
    const { to = new Date().toISOString(), sensitivity = 'MEDIUM' } = options;
    const { from = new Date(Date.parse(String(to)) - dayMs).toISOString() } = options;
    const chosen = sensitivities.find((one) => one === sensitivity);
    if (chosen === undefined)
      throw new UsageError(`Invalid --sensitivity ${sensitivity}: it must be LOW, MEDIUM or HIGH`);
    const { id: deviceId } = await deviceOf(run, words[0] ?? '');
    const interval = { from: String(from), to: String(to) };
    const body = { ...given(options), dataKey: words[1] ?? '', interval, sensitivity: chosen };
    const call = { path: { deviceId }, body, signal };
    const found = await client.post('/v3/devices/{deviceId}/query/expected', call);
    if (isJson) return write(`${JSON.stringify(found)}\n`);
    const rows = found.timestamps.map((at, i) => [
      at,
      figure(found.expected[i]),
      figure(found.lower[i]),
      figure(found.upper[i]),
    ]);
    await write(textTable(['HOUR', 'EXPECTED', 'LOWER', 'UPPER'], rows));
    if (found.method === 'NONE') run.report('too little is known: two weeks are needed');
  },
};

export const forecast: Command = {
  summary: 'say when a value reaches a target',
  words: ['DEVICE,…', 'KEY', 'TARGET'],
  options: {
    history: { type: 'string', value: 'DURATION', help: 'time to learn from; P30D by default' },
    horizon: { type: 'string', value: 'DURATION', help: 'time to look ahead; P365D by default' },
    ...common,
  },
  async run(run) {
    const { client, words, options, isJson, write, signal } = run;
    const [devices, dataKey = '', text = ''] = words;
    const target = Number(text);
    if (text.trim() === '' || !Number.isFinite(target))
      throw new UsageError(`Invalid target ${text}: it must be a number`);
    const names = listOf(devices) ?? [];
    if (names.length > devicesMax)
      throw new UsageError(`a forecast is of at most ${devicesMax} devices`);
    const named = new Map<string, string>();
    for (const name of names) {
      const { id, deviceId } = await deviceOf(run, name);
      named.set(id, deviceId);
    }
    const { history, horizon } = options;
    const found = await client.post('/v3/devices/query/forecast', {
      query: { size: devicesMax },
      body: {
        ...given(options),
        ...{ deviceIds: [...named.keys()], dataKey, target },
        ...(history !== undefined && { history: String(history) }),
        ...(horizon !== undefined && { horizon: String(horizon) }),
      },
      signal,
    });
    if (isJson) {
      for (const one of found.content) await write(`${JSON.stringify(one)}\n`);
      return;
    }
    const rows = found.content.map((one) => [
      named.get(one.deviceId) ?? one.deviceId,
      figure(one.value),
      figure(one.slopePerDay),
      one.reachesAt ?? one.reason ?? '-',
      one.earliest ?? '-',
      one.latest ?? '-',
    ]);
    const head = ['DEVICE ID', 'VALUE', 'PER DAY', 'REACHES TARGET', 'EARLIEST', 'LATEST'];
    await write(textTable(head, rows));
  },
};
