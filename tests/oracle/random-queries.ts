// Random samples and queries from a seed: the same seed gives the same ones.
import { accumulatorNames } from '../../src/query/summaries/accumulators.ts';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Sample } from '../../src/model/sample.ts';
import { dayMs, hourMs, minuteMs } from '../../src/model/instant.ts';

export interface OracleQuery {
  readonly source: 'raw' | 'hours';
  readonly deviceIds: readonly string[];
  readonly topic: string;
  readonly dataKey: string;
  readonly accumulator: (typeof accumulatorNames)[number];
  readonly from: number;
  readonly to: number;
  /** Absent: a KPI. */
  readonly bucketInterval?: string;
  readonly timeZone: string;
  readonly now: number;
}

/** What queries are about. */
export interface QueryScope {
  readonly deviceIds: readonly string[];
  /** A moment that the interval should contain. */
  readonly around: (random: () => number) => number;
}

// Both changes of the clock in Europe and America, and an ordinary week between.
const periods = [Date.UTC(2026, 2, 5), Date.UTC(2026, 5, 1), Date.UTC(2026, 9, 22)] as const;
const periodDays = 27;
const devices = ['d1', 'd2', 'd3', 'd4'];
const fewDevices: QueryScope = {
  deviceIds: devices,
  around: (random) => randomMoment(random),
};
const topics = ['default', 'alarm'];
const dataKeys = [
  'temperature',
  'open',
  'label',
  'mixed',
  'nested.level',
  'dotted.key',
  'sparse',
  'absent',
];
const zones = [
  'UTC',
  'Europe/Zurich',
  'America/New_York',
  'America/St_Johns',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
];
// With the longest span that stays well below the limit of buckets.
const intervals = [
  ['PT5M', 2 * dayMs],
  ['PT15M', 5 * dayMs],
  ['PT1H', 20 * dayMs],
  ['PT2H', 20 * dayMs],
  ['PT6H', 40 * dayMs],
  ['PT90M', 20 * dayMs],
  ['PT5H', 20 * dayMs],
  ['P1D', 250 * dayMs],
  ['P1W', 250 * dayMs],
  ['P1M', 800 * dayMs],
  ['P1Y', 3_000 * dayMs],
] as const;

/** Numbers from 0 to 1 (Marsaglia's xorshift on 32 bits). */
export function randomOf(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

export const below = (random: () => number, end: number) => Math.floor(random() * end);
export const pick = <T>(random: () => number, list: readonly T[]): T =>
  list[below(random, list.length)]!;

export const randomMoment = (random: () => number): number =>
  pick(random, periods) + below(random, periodDays * dayMs);
export const randomTopic = (random: () => number): string => pick(random, topics);

/** Samples with gaps, bursts, repeated instants, late ones and values of every type. */
export function randomSamples(random: () => number, count: number): Sample[] {
  return Array.from({ length: count }, (): Sample => {
    const start = pick(random, periods);
    const burst = random() < 0.3;
    const at = burst ? 5 * dayMs + below(random, 3 * hourMs) : below(random, periodDays * dayMs);
    return {
      deviceId: pick(random, devices),
      topic: random() < 0.7 ? topics[0]! : topics[1]!,
      timestamp: start + (random() < 0.2 ? Math.floor(at / minuteMs) * minuteMs : at),
      data: randomData(random),
    };
  });
}

export function randomData(random: () => number): JsonObject {
  const mixed: readonly Json[] = [1, '1', true, false, null, 'x', 2.5, { a: 1 }, [1], -3e9, 0];
  return {
    temperature: Math.round((random() * 60 - 20) * 100) / 100,
    open: random() < 0.4,
    label: `label ${below(random, 12)}`,
    mixed: pick(random, mixed),
    nested: { level: below(random, 5) - 1 },
    'dotted.key': random() * 1e6,
    ...(random() < 0.1 ? { sparse: random() } : {}),
  };
}

/** Some neighbors, rarely nearly all. */
function randomDevices(random: () => number, deviceIds: readonly string[]): readonly string[] {
  if (deviceIds.length <= devices.length)
    return deviceIds.slice(0, 1 + below(random, deviceIds.length));
  const count = pick(random, [1, 2, 5, 20, random() < 0.1 ? deviceIds.length : 50]);
  const first = below(random, Math.max(1, deviceIds.length - count));
  return deviceIds.slice(first, first + count);
}

/** A query that is answered, not refused. */
export function randomQuery(random: () => number, scope = fewDevices): OracleQuery {
  const { deviceIds } = scope;
  const source = random() < 0.5 ? 'raw' : 'hours';
  const series = random() < 0.6;
  const usable =
    source === 'raw'
      ? intervals
      : intervals.filter(([name]) => !name.endsWith('M') || name === 'P1M');
  const [bucketInterval, spanMax] = pick(random, usable);
  const around = scope.around(random);
  const precision = pick(random, [1, minuteMs, hourMs, dayMs]);
  const from = Math.floor((around - below(random, dayMs)) / precision) * precision;
  const to =
    from + Math.max(precision, Math.floor((random() ** 3 * spanMax) / precision) * precision);
  return {
    source,
    deviceIds: series ? [pick(random, deviceIds)] : randomDevices(random, deviceIds),
    topic: pick(random, topics),
    dataKey: pick(random, dataKeys),
    accumulator: pick(random, accumulatorNames),
    from,
    to,
    ...(series ? { bucketInterval } : {}),
    timeZone: pick(random, zones),
    now: random() < 0.2 ? from + below(random, to - from) : Date.UTC(2040, 0, 1),
  };
}
