// Accumulators in the order of time against a reference that knows neither stores nor folds, over late, repeated and missing values.
// More than the usual 60: FOLDS=20000 npx vitest run src/query/bucket-answers.test.ts
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { minuteMs } from '../model/instant.ts';
import type { Json } from '../model/json.ts';
import { openTimeZones } from '../model/time-zone.ts';
import { Random } from '../storage/samples/conformance/random-entries.ts';
import { entryOf } from '../storage/samples/conformance/sample-entries.ts';
import { openTestSamples, type TestSamples } from '../storage/samples/testing-samples.ts';
import type { AccumulationBody } from './accumulation.ts';
import { Calendars } from './calendars.ts';
import { DeviceQueries } from './device-queries.ts';
import { openPublicHolidays } from './public-holidays.ts';
import { type FoldName, foldNames } from './summaries/folds.ts';

const runs = Number(process.env['FOLDS'] ?? 60);
const cellMs = 10 * minuteMs;
/** The day before the clocks of Zurich change, in the spring and in the autumn. */
const starts = [Date.UTC(2026, 2, 27, 23), Date.UTC(2026, 9, 23, 22)];
const cells = 4 * 144;

interface Row {
  readonly at: number;
  readonly value: Json;
}

interface Wanted {
  readonly accumulator: FoldName;
  readonly interpolation: 'LINEAR' | 'STEP';
  readonly maxGapMs: number;
  readonly state: string | number | boolean;
  readonly resets: 'GUARDED' | 'ALL';
  readonly now: number;
}

/** Rows in the order of storing. */
function randomRows(random: Random, start: number): Row[] {
  let counter = random.below(1_000);
  const kind = random.below(3);
  const rows: Row[] = [];
  for (
    let cell = random.below(30);
    cell < cells;
    cell += 1 + random.below(random.pick([2, 9, 90]))
  ) {
    counter += random.below(50) / 2;
    if (random.below(12) === 0) counter = random.pick([0, counter * 0.95, counter * 0.5, 3]);
    const shown = random.below(15) === 0 ? 0 : counter;
    const wild = random.pick<Json>([null, 'open', true, false, { a: 1 }, -5.5]);
    const value = random.below(12) === 0 ? wild : shown;
    rows.push({ at: start + cell * cellMs, value });
    if (random.below(10) === 0) rows.push({ at: start + cell * cellMs, value: counter + 1 });
  }
  for (let i = 0; kind > 0 && i < rows.length; i += 3) {
    const other = random.below(rows.length);
    [rows[i], rows[other]] = [rows[other]!, rows[i]!];
  }
  return rows;
}

/** One value per instant, the last stored one, of those that the accumulator reads. */
function valuesOf(rows: readonly Row[], { accumulator, state }: Wanted): Map<number, number> {
  const values = new Map<number, number>();
  for (const { at, value } of rows) {
    if (value === null) continue;
    const isNumeric = typeof value === 'number' || typeof value === 'boolean';
    if (accumulator === 'TIME_IN_STATE') values.set(at, value === state ? 1 : 0);
    else if (accumulator === 'DURATION_TRUE')
      values.set(at, isNumeric && Number(value) > 0 ? 1 : 0);
    else if (isNumeric) values.set(at, Number(value));
  }
  return values;
}

/** The value in the middle of a cell; undefined where nothing is known. */
function valueIn(
  middle: number,
  at: readonly number[],
  values: Map<number, number>,
  wanted: Wanted,
) {
  const before = at.findLast((each) => each < middle);
  const next = at.find((each) => each > middle);
  if (before === undefined) return undefined;
  const isStep =
    wanted.interpolation === 'STEP' ||
    wanted.accumulator === 'DURATION_TRUE' ||
    wanted.accumulator === 'TIME_IN_STATE';
  const value = values.get(before)!;
  if (isStep) return middle < before + wanted.maxGapMs && middle < wanted.now ? value : undefined;
  if (next === undefined || next - before > wanted.maxGapMs) return undefined;
  return value + ((values.get(next)! - value) * (middle - before)) / (next - before);
}

/** What each value of a counter adds, by its place in the list. */
function stepsOf(list: readonly number[], resets: Wanted['resets']): number[] {
  const steps = list.map(() => 0);
  let old = list[0]!;
  for (let i = 1; i < list.length; i++) {
    const value = list[i]!;
    if (resets === 'GUARDED' && value === 0 && old > 0) {
      const next = list.slice(i).find((each) => each !== 0);
      if (next !== undefined && next < old) old = 0;
      continue;
    }
    const isDip = resets === 'GUARDED' && value < old && old - value <= Math.abs(old) * 0.1;
    if (isDip) continue;
    steps[i] = value >= old ? value - old : value;
    old = value;
  }
  return steps;
}

interface Point {
  readonly value: number | null;
  readonly coverage: number;
}

function reference(rows: readonly Row[], edges: readonly number[], wanted: Wanted): Point[] {
  const values = valuesOf(rows, wanted);
  const at = [...values.keys()].sort((a, b) => a - b);
  const { accumulator } = wanted;
  return edges.slice(0, -1).map((from, i) => {
    const to = edges[i + 1]!;
    if (accumulator === 'DELTA' || accumulator === 'INCREASE' || accumulator === 'RATE') {
      // Steps depend on all values since the last before the first bucket.
      const first = at.findLastIndex((each) => each < edges[0]!);
      const seen = at.slice(Math.max(0, first)).filter((each) => each < to);
      const steps = stepsOf(
        seen.map((each) => values.get(each)!),
        wanted.resets,
      );
      const inside = seen.filter((each) => each >= from);
      const used = [...seen.filter((each) => each < from).slice(-1), ...inside];
      if (inside.length === 0 || used.length < 2) return { value: null, coverage: 0 };
      const increase = seen.reduce((sum, each, k) => (each >= from ? sum + steps[k]! : sum), 0);
      const [start, end] = [used[0]!, used.at(-1)!];
      const delta = values.get(end)! - values.get(start)!;
      const rate = increase / ((end - start) / 1_000);
      const value = accumulator === 'DELTA' ? delta : accumulator === 'RATE' ? rate : increase;
      return { value, coverage: (end - Math.max(start, from)) / (to - from) };
    }
    let [sum, count] = [0, 0];
    for (let cell = from; cell < to; cell += cellMs) {
      const value = valueIn(cell + cellMs / 2, at, values, wanted);
      if (value === undefined) continue;
      sum += value;
      count++;
    }
    const coverage = (count * cellMs) / (to - from);
    if (count === 0) return { value: null, coverage };
    if (accumulator === 'TIME_WEIGHTED_AVG') return { value: sum / count, coverage };
    return { value: (sum * cellMs) / (accumulator === 'INTEGRAL' ? 3_600_000 : 1_000), coverage };
  });
}

function expectClose(found: number | null, wanted: number | null, what: string): void {
  const isClose =
    found === wanted ||
    (found !== null &&
      wanted !== null &&
      Math.abs(found - wanted) <= 1e-9 * Math.max(1, Math.abs(wanted)));
  if (!isClose) throw new Error(`${what}: ${found} instead of ${wanted}`);
}

async function askBoth(
  random: Random,
  deviceId: string,
  start: number,
  rows: Row[],
  queries: DeviceQueries,
) {
  const device = { id: deviceId, workspaceId: 'w1' };
  for (const accumulator of foldNames) {
    const hour = 6 * cellMs;
    const from = start + random.below(60) * hour;
    const to = from + (1 + random.below(40)) * hour;
    const [maxGap, maxGapMs] = random.pick([
      ['PT30M', 3 * cellMs],
      ['PT6H', 36 * cellMs],
      ['P2D', 288 * cellMs],
    ] as const);
    const wanted: Wanted = {
      accumulator,
      interpolation: random.pick(['LINEAR', 'STEP']),
      maxGapMs,
      state: random.pick(['open', true, 0]),
      resets: random.pick(['GUARDED', 'ALL']),
      now: start + random.below(cells) * cellMs,
    };
    const { interpolation, state, resets, now } = wanted;
    const body: AccumulationBody = {
      topic: 'default',
      dataKey: 'n',
      accumulator,
      interval: { from: new Date(from).toISOString(), to: new Date(to).toISOString() },
      timeZone: 'Europe/Zurich',
      ...{ interpolation, maxGap, state, resets },
    };
    const bucketInterval = random.pick(['P1D', 'PT1H', 'PT6H']);
    for (const source of ['raw', 'hours'] as const) {
      const query = { source, body: { ...body, bucketInterval }, now };
      const series = await queries.seriesOf(device, query);
      const edges = [...series.starts, to];
      const what = `${source} ${bucketInterval} ${JSON.stringify([wanted, from, to])}`;
      for (const [i, point] of reference(rows, edges, wanted).entries()) {
        expectClose(series.dataPoints[i]!, point.value, `${i} of ${what}`);
        expectClose(series.coverage![i]!, point.coverage, `coverage ${i} of ${what}`);
      }
      const [kpi] = await queries.kpis({ devices: [device], source, body, now });
      const [whole] = reference(rows, [from, to], wanted);
      expectClose(kpi!.kpi, whole!.value, `KPI of ${what}`);
      const known = series.dataPoints.filter((point) => point !== null);
      const addsUp = ['INCREASE', 'INTEGRAL', 'DURATION_TRUE', 'TIME_IN_STATE'].includes(
        accumulator,
      );
      if (addsUp && known.length > 0)
        expectClose(
          known.reduce((sum, point) => sum + point, 0),
          kpi!.kpi,
          `sum of ${what}`,
        );
    }
  }
}

test('contract 38: accumulators in the order of time equal fine sampling, and their buckets add up', {
  timeout: 1_800_000,
}, async () => {
  const root = await mkdtemp(join(tmpdir(), 'folds-'));
  let store: TestSamples | undefined;
  try {
    for (let seed = 1; seed <= runs; seed++) {
      const random = new Random(seed);
      if (store === undefined || seed % 200 === 0) {
        await store?.close();
        const limits = {
          rowsMax: 60,
          memtableRowsMax: 50,
          chunkRowsMin: random.pick([1, 8, 1_000]),
        };
        store = await openTestSamples({
          directory: join(root, String(seed)),
          now: () => 1,
          limits,
        });
      }
      const calendarOf = () => ({
        timezone: null,
        workingHours: null,
        holidays: null,
        holidayRegion: null,
      });
      const queries = new DeviceQueries(
        store,
        new Calendars(calendarOf, openTimeZones(), openPublicHolidays()),
      );
      const start = random.pick(starts);
      const rows = randomRows(random, start);
      const deviceId = `d${seed}`;
      for (let i = 0; i < rows.length; ) {
        const entry = rows.slice(i, (i += 1 + random.below(12)));
        const data = entry.map(({ at, value }, k) => ({ at, data: { n: value, k: i + k } }));
        await store.append(entryOf(deviceId, data));
        if (random.below(12) === 0) await store.sealAll();
      }
      await askBoth(random, deviceId, start, rows, queries);
    }
    expect(store?.damage).toEqual([]);
    await store?.close();
  } finally {
    await rm(root, { recursive: true });
  }
});
