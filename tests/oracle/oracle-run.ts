// Oracle run: queries of the product and of the SQL oracle; returns the first difference.
import type { QueriedDevice } from '../../src/query/accumulation.ts';
import { Calendars } from '../../src/query/calendars.ts';
import { DeviceQueries } from '../../src/query/device-queries.ts';
import { openPublicHolidays } from '../../src/query/public-holidays.ts';
import { seriesJson } from '../../src/query/unwritten-json.ts';
import { openTimeZones } from '../../src/model/time-zone.ts';
import { type FillStore, filledStore } from './filled-store.ts';
import type { Samples } from '../../src/storage/samples/samples.ts';
import {
  type OracleQuery,
  type QueryScope,
  randomOf,
  randomQuery,
  randomSamples,
} from './random-queries.ts';
import { type OracleAnswer, type SqlOracle, sqlOracle } from './sql-oracle.ts';

export const dataKeys = [
  'temperature',
  'open',
  'label',
  'mixed',
  'nested.level',
  'dotted.key',
  'sparse',
  'absent',
];
const calendar = { timezone: null, workingHours: null, holidays: null, holidayRegion: null };
const tolerance = 1e-9;

export interface OracleRun {
  readonly queries: number;
  readonly points: number;
  readonly nonNull: number;
}

/** Throws with query and both answers at the first one that differs by more than 1e-9. */
export async function oracleRun(
  seed: number,
  samples: number,
  queries: number,
  fill: FillStore = filledStore,
): Promise<OracleRun> {
  const random = randomOf(seed);
  const stored = randomSamples(random, samples);
  const oracle = sqlOracle(stored, dataKeys);
  const { store, close } = await fill(stored);
  const run = { queries, points: 0, nonNull: 0 };
  try {
    for (let i = 0; i < queries; i++) {
      const asked = await askBoth({ random, oracle, store, what: `seed ${seed}, query ${i}` });
      run.points += asked.points;
      run.nonNull += asked.nonNull;
    }
  } finally {
    oracle.close();
    await close();
  }
  return run;
}

const calendars = new Calendars(() => calendar, openTimeZones(), openPublicHolidays());

/** Asks a random query of both; throws when the answers differ. */
export async function askBoth({
  random,
  scope,
  oracle,
  store,
  what,
}: {
  readonly random: () => number;
  readonly scope?: QueryScope;
  readonly oracle: SqlOracle;
  readonly store: Pick<Samples, 'buckets' | 'values'>;
  readonly what: string;
}): Promise<Pick<OracleRun, 'points' | 'nonNull'>> {
  const query = randomQuery(random, scope);
  const expected = oracle.answer(query);
  const actual = await productAnswer(query, new DeviceQueries(store, calendars));
  const difference = differenceOf(actual, expected);
  if (difference !== undefined) throw new Error(`${what}: ${difference}\n${JSON.stringify(query)}`);
  const all = expected.points.flat();
  return { points: all.length, nonNull: all.filter((point) => point !== null).length };
}

async function productAnswer(query: OracleQuery, queries: DeviceQueries): Promise<OracleAnswer> {
  const { source, topic, dataKey, accumulator, timeZone, now } = query;
  const interval = {
    from: new Date(query.from).toISOString(),
    to: new Date(query.to).toISOString(),
  };
  const body = { topic, dataKey, accumulator, timeZone, interval };
  const devices = query.deviceIds.map((id): QueriedDevice => ({ id, workspaceId: 'w1' }));
  if (query.bucketInterval !== undefined) {
    const series = await queries.seriesOf(devices[0]!, {
      source,
      body: { ...body, bucketInterval: query.bucketInterval },
      now,
    });
    const shown = JSON.parse(seriesJson(series)) as {
      readonly timestamps: readonly string[];
      readonly dataPoints: (number | null)[];
    };
    return { starts: shown.timestamps.map(Date.parse), points: [shown.dataPoints] };
  }
  const kpis = (await queries.kpis({ devices, source, body, now })).map(({ kpi }) => kpi);
  const { kpi: total } = await queries.total({ devices, source, body, now });
  const known = kpis.filter((kpi) => kpi !== null);
  const sum = known.length === 0 ? null : known.reduce((a, b) => a + b, 0);
  if (!isSame(total, sum))
    throw new Error(`accumulated ${total} is not the sum ${sum}: ${JSON.stringify(query)}`);
  const from = source === 'raw' ? query.from : query.from - (query.from % 3_600_000);
  return { starts: [from], points: kpis.map((kpi) => [kpi]) };
}

function differenceOf(actual: OracleAnswer, expected: OracleAnswer): string | undefined {
  const iso = (ms: number | undefined) => (ms === undefined ? 'none' : new Date(ms).toISOString());
  for (let i = 0; i < Math.max(actual.starts.length, expected.starts.length); i++) {
    if (actual.starts[i] !== expected.starts[i]) {
      return `start ${i} is ${iso(actual.starts[i])}, not ${iso(expected.starts[i])}`;
    }
  }
  for (const [d, wanted] of expected.points.entries()) {
    for (const [i, point] of wanted.entries()) {
      const told = actual.points[d]?.[i] ?? null;
      if (!isSame(told, point))
        return `device ${d}, ${iso(expected.starts[i])}: ${told}, not ${point}`;
    }
  }
  return undefined;
}

function isSame(a: number | null, b: number | null): boolean {
  if (a === null || b === null) return a === b;
  return Math.abs(a - b) <= tolerance * Math.max(1, Math.abs(a), Math.abs(b));
}
