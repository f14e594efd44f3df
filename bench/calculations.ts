// Group calculations: how long 100 tags of 1,000 devices take for each period, and after late samples, and what captures feel.
// node bench/calculations.ts [--tags 100] [--devices 1000] [--periods 5] [--write]
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { missing } from '../src/structures/missing.ts';
import { feltCaptures } from './load/felt-captures.ts';
import {
  type HttpConnection,
  httpRequest,
  mustSucceed,
  openPatientConnection,
} from './load/http.ts';
import { figure, markdownTable, publish, type Summary } from './load/measure.ts';
import { apiKey, createDevices, createFlow, type Platform, withPlatform } from './load/platform.ts';

const { values: flags } = parseArgs({
  options: {
    tags: { type: 'string', default: '100' },
    devices: { type: 'string', default: '1000' },
    periods: { type: 'string', default: '5' },
    write: { type: 'boolean', default: false },
  },
});
const tagCount = Number(flags.tags);
const devicesPerTag = Number(flags.devices);
const periodCount = Number(flags.periods);
const minuteMs = 60_000;
const seconds = 5;
const pauseMs = 20;
const lineMax = 10_000;
/** A result may be written so long after its period. */
const settleMs = 5_000;
const felt = 'felt';
const headers = { 'x-api-key': apiKey };

interface Made {
  readonly id: string;
}

interface Listed {
  readonly content: readonly {
    readonly progress: {
      readonly computedTo: string | null;
      readonly late: number;
      readonly error: string | null;
    };
  }[];
}

const nameOf = (tag: number, device: number): string => `t${tag}d${device}`;

async function send(connection: HttpConnection, lines: readonly object[]): Promise<void> {
  const type = { ...headers, 'content-type': 'application/x-ndjson' };
  for (let from = 0; from < lines.length; from += lineMax) {
    const some = lines.slice(from, from + lineMax).map((line) => JSON.stringify(line));
    mustSucceed(
      await connection.send(httpRequest('POST', '/v3/samples/bulk', type, some.join('\n'))),
    );
  }
}

async function listed({ call, workspaceId }: Platform): Promise<Listed['content']> {
  const path = `/v3/calculations?workspaceId=${workspaceId}&size=${tagCount}`;
  const { content } = await call<Listed>('GET', path);
  const failed = content.find(({ progress }) => progress.error !== null);
  if (failed !== undefined) throw new Error(String(failed.progress.error));
  return content;
}

/** Seconds until all calculations are so far. */
async function until(
  platform: Platform,
  isDone: (progress: Listed['content'][number]['progress']) => boolean,
): Promise<number> {
  const startedAt = performance.now();
  for (;;) {
    const content = await listed(platform);
    if (content.every(({ progress }) => isDone(progress)))
      return (performance.now() - startedAt) / 1_000;
    await delay(500);
  }
}

async function measure(platform: Platform, folder: string): Promise<void> {
  const { call, workspaceId } = platform;
  // Creating the devices takes minutes.
  const connection = await openPatientConnection(platform.target);
  const script = "function consume(event) { emit('sample', { data: event.data }); }";
  const flow = await createFlow(platform, script, { passThrough: true });
  const tags = Array.from({ length: tagCount }, (_, n) => n);
  const members = Array.from({ length: devicesPerTag }, (_, n) => n);
  const names = tags.flatMap((tag) => members.map((device) => nameOf(tag, device)));
  const targets = tags.map((tag) => `target${tag}`);
  const ids = await createDevices(platform, flow, [...names, ...targets, felt]);
  const targetIds = ids.slice(names.length);
  const end = Math.floor(Date.now() / minuteMs) * minuteMs;
  const start = end - periodCount * minuteMs;
  for (let at = start; at < end; at += minuteMs)
    await send(
      connection,
      names.map((deviceId, n) => ({
        deviceId,
        timestamp: at + (n % minuteMs),
        data: { value: n },
      })),
    );
  const devices = [{ deviceId: felt, secret: flow.uplinkSecret }];
  const captures = async (): Promise<Summary> => {
    const [found = missing('captures')] = await feltCaptures(platform, devices, {
      seconds,
      pauseMs,
    });
    return found;
  };
  await captures();
  const before = await captures();
  const calculationIds: string[] = [];
  for (const tag of tags) {
    const { id: tagId } = await call<Made>('POST', '/v3/tags', { name: `tag ${tag}`, workspaceId });
    const deviceIds = ids.slice(tag * devicesPerTag, (tag + 1) * devicesPerTag);
    const tagging = { workspaceId, deviceIds, addTagIds: [tagId] };
    const { id } = await call<Made>('POST', '/v3/devices/bulk/tag', tagging);
    const look = () =>
      call<{ completed: string | null }>('GET', `/v3/operations/${id}?actions=none`);
    while ((await look()).completed === null) await delay(50);
    const made = await call<Made>('POST', '/v3/calculations', {
      active: false,
      ...{ name: `calculation ${tag}`, workspaceId, tagId, topic: 'default', period: 'PT1M' },
      from: new Date(start).toISOString(),
      target: { deviceId: targetIds[tag], topic: 'group' },
      outputs: [
        { key: 'sum', each: { accumulator: 'LAST', dataKey: 'value' }, across: 'SUM' },
        { key: 'reporting', count: 'REPORTING' },
      ],
    });
    calculationIds.push(made.id);
  }
  for (const id of calculationIds) await call('PUT', `/v3/calculations/${id}`, { active: true });
  const { processorUs } = platform.server;
  const startedUs = processorUs();
  const computing = until(platform, ({ computedTo }) => Date.parse(computedTo ?? '') >= end);
  const during = await captures();
  const allS = await computing;
  const allUs = processorUs() - startedUs;
  const late = Date.now();
  const lateFromUs = processorUs();
  await send(
    connection,
    tags.map((tag) => ({
      deviceId: nameOf(tag, 0),
      timestamp: start + 30_500,
      data: { value: 1e6 },
    })),
  );
  await delay(settleMs);
  await until(platform, ({ late: waiting }) => waiting === 0);
  const lateS = (Date.now() - late) / 1_000;
  const lateUs = processorUs() - lateFromUs;
  connection.close();
  const table = markdownTable(
    ['', 'seconds', 'processor time, s', 'processor time by period and calculation, ms'],
    [
      [
        `${periodCount} periods of ${tagCount} calculations`,
        figure(allS),
        figure(allUs / 1e6),
        figure(allUs / 1_000 / (periodCount * tagCount)),
      ],
      [
        'a late sample of each',
        figure(lateS),
        figure(lateUs / 1e6),
        figure(lateUs / 1_000 / tagCount),
      ],
    ],
  );
  const felts = markdownTable(
    ['captures', 'p50, ms', 'p99, ms'],
    [
      ['before', figure(before.p50Ms), figure(before.p99Ms)],
      ['while periods are computed', figure(during.p50Ms), figure(during.p99Ms)],
    ],
  );
  const words = `${devicesPerTag} devices of each tag, a sample of each in every minute, two results. Seconds contain the 5 for which a period and late samples wait; processor time contains that of the captures and of asking for progress.`;
  publish('Group calculations', [words, table, felts], folder);
}

await withPlatform({}, measure);
