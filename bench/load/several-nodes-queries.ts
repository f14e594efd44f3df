// Queries of several nodes: the same of an embedded platform, of the owner, of another node, and of ClickHouse itself.
import { setTimeout as wait } from 'node:timers/promises';
import { hourMs } from '../../src/model/instant.ts';
import { figure, median } from './measure.ts';
import type { Platform } from './platform.ts';

/** History of each device: a sample every half hour, for this many days until the start of today. */
export const historyDays = 30;
export const samplesPerDay = 48;
const samplesPerRequest = 5_000;
const shippedMsMax = 180_000;

/** A platform with its devices. */
export interface Side {
  readonly platform: Platform;
  readonly secret: string;
  /** Physical and service ids of its devices, in one order. */
  readonly names: readonly string[];
  readonly ids: readonly string[];
}

const today = Math.floor(Date.now() / (24 * hourMs)) * 24 * hourMs;
const historyFrom = today - historyDays * 24 * hourMs;

/** Stores the history of the devices. */
export async function loadHistory(platform: Platform, ids: readonly string[]): Promise<void> {
  let samples: object[] = [];
  const send = async (): Promise<void> => {
    if (samples.length > 0) await platform.call('POST', '/v3/samples/bulk', samples);
    samples = [];
  };
  const stepMs = (24 * hourMs) / samplesPerDay;
  for (const [place, deviceId] of ids.entries())
    for (let at = historyFrom; at < today; at += stepMs) {
      const temperature = 20 + Math.sin(place + at / hourMs) * 5;
      const data = { temperature, humidity: 50 + place / 10 };
      samples.push({ deviceId, topic: 'history', timestamp: new Date(at).toISOString(), data });
      if (samples.length === samplesPerRequest) await send();
    }
  await send();
}

/** Resolves when ClickHouse has everything. */
export async function shipped(nodes: readonly Platform[]): Promise<void> {
  const giveUpAt = performance.now() + shippedMsMax;
  for (;;) {
    const open = await Promise.all(nodes.map(openSamples));
    if (open.every((count) => count === 0)) return;
    if (performance.now() > giveUpAt) throw new Error(`Not shipped: ${open.join(', ')} samples`);
    await wait(500);
  }
}

async function openSamples({ target }: Platform): Promise<number> {
  const answer = await fetch(`http://${target.host}:${target.port}/metrics`);
  const text = await answer.text();
  return Number(/^heliograph_clickhouse_pending_samples (\S+)$/m.exec(text)?.[1] ?? Number.NaN);
}

export const history = { topic: 'history', dataKey: 'temperature' };
const wholeMonth = {
  from: new Date(historyFrom).toISOString(),
  to: new Date(today).toISOString(),
};
/** Whole days until the start of today. */
export function untilToday(days: number) {
  return { from: new Date(today - days * 24 * hourMs).toISOString(), to: wholeMonth.to };
}

const lastDay = untilToday(1);
const hourly = {
  ...history,
  accumulator: 'AVG',
  interval: wholeMonth,
  bucketInterval: 'PT1H',
};

const deviceQueries: readonly (readonly [string, string, object])[] = [
  ['last 100 samples', '', { topic: 'history', limit: 100 }],
  [
    'one day of samples by PT30M',
    '/raw/time-series',
    { ...hourly, interval: lastDay, bucketInterval: 'PT30M' },
  ],
  ['30 days by PT1H', '/aggregated/hourly/time-series', hourly],
  ['30 days as one average', '/aggregated/hourly/kpi', { ...hourly, bucketInterval: undefined }],
];

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

interface QueriedNodes {
  /** The node that does not own the devices. */
  readonly other: Platform;
  readonly queryRounds: number;
}

/** Devices that are asked for again and again. */
export const keptDevices = 10;
const warmTurns = 5;
/** A node reads the rows of a device that is asked for again in the background. */
const keptAfterMs = 1_000;

/**
 * Rows of the table of queries of one device: of devices that were not asked for before, and then of
 * those that the owner keeps.
 */
export async function queryRows(
  one: Side,
  several: Side,
  { other, queryRounds }: QueriedNodes,
): Promise<string[][]> {
  const owned = several.ids;
  // No device is asked for twice before the owner is to keep it.
  const turnsEach = Math.min(queryRounds + warmTurns, owned.length / deviceQueries.length);
  async function measured(platforms: readonly Platform[], places: (turn: number) => number) {
    const found: number[][] = [];
    for (const [number, [, path, body]] of deviceQueries.entries()) {
      const times = platforms.map((): number[] => []);
      for (let turn = 0; turn < Math.floor(turnsEach); turn++) {
        const place = places(Math.ceil(number * turnsEach) + turn);
        for (const [i, platform] of platforms.entries()) {
          const id = platform === one.platform ? one.ids[place] : owned[place];
          const ms = await timed(() =>
            platform.call('POST', `/v3/devices/${id}/query${path}`, body),
          );
          if (turn >= warmTurns) times[i]?.push(ms);
        }
      }
      found.push(times.map(median));
    }
    return found;
  }
  const first = await measured([one.platform, several.platform, other], (turn) => turn);
  await measured([several.platform], (turn) => turn % keptDevices);
  await wait(keptAfterMs);
  const again = await measured(
    [one.platform, several.platform, other],
    (turn) => turn % keptDevices,
  );
  return deviceQueries.map(([name], number) => {
    const [embedded = 0, atOwner = 0, elsewhere = 0] = first[number] ?? [];
    const [embeddedAgain = 0, kept = 0, keptElsewhere = 0] = again[number] ?? [];
    return [
      name,
      figure(embedded),
      figure(atOwner),
      `x${figure(atOwner / embedded)}`,
      figure(elsewhere),
      figure(embeddedAgain),
      figure(kept),
      `x${figure(kept / embeddedAgain)}`,
      figure(keptElsewhere),
    ];
  });
}

/** Rows of the table of many devices, with the same questions to the tables. */
export async function directRows(
  { platform, ids }: Side,
  { url, queryRounds }: { readonly url: string; readonly queryRounds: number },
): Promise<string[][]> {
  const devices = ids.map((id) => `'${id}'`).join(', ');
  const range = `hourAt >= ${historyFrom} and hourAt < ${today}`;
  const questions: readonly (readonly [string, string, object, string])[] = [
    [
      `${ids.length} devices, 30 days by PT1H`,
      '/v3/devices/query/batch/aggregated/hourly/time-series',
      { ...hourly, deviceIds: ids },
      `select device, hourAt, sum(numSum) / sum(numericCount) as mean from hours
        where topic = 'history' and key = '"temperature"' and device in (${devices}) and ${range}
        group by device, hourAt order by device, hourAt format JSONCompact`,
    ],
    [
      `${ids.length} devices, 30 days as one average each`,
      '/v3/devices/query/batch/aggregated/hourly/kpi',
      { ...hourly, bucketInterval: undefined, deviceIds: ids },
      `select device, sum(numSum) / sum(numericCount) as mean from hours
        where topic = 'history' and key = '"temperature"' and device in (${devices}) and ${range}
        group by device order by device format JSONCompact`,
    ],
  ];
  const rows: string[][] = [];
  for (const [name, path, body, sql] of questions) {
    const times: [number[], number[]] = [[], []];
    for (let turn = -2; turn < Math.max(5, queryRounds / 4); turn++) {
      const took = [
        await timed(() => platform.call('POST', path, body)),
        await timed(() => askClickHouse(url, sql)),
      ];
      if (turn >= 0) for (const [i, ms] of took.entries()) times[i]?.push(ms);
    }
    const [ours, theirs] = times.map(median) as [number, number];
    rows.push([name, figure(ours), figure(theirs), `x${figure(ours / theirs)}`]);
  }
  return rows;
}

async function askClickHouse(url: string, sql: string): Promise<void> {
  const { origin, username, password } = new URL(url);
  // The database of a platform whose SAMPLES_URL names none.
  const answer = await fetch(`${origin}/?database=heliograph`, {
    method: 'POST',
    body: sql,
    headers: {
      ...(username !== '' && { 'x-clickhouse-user': username }),
      ...(password !== '' && { 'x-clickhouse-key': password }),
    },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  if ((JSON.parse(text) as { rows: number }).rows === 0)
    throw new Error('ClickHouse found nothing');
}
