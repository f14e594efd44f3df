// Accumulators in the order of time: cost of a value in each fold and in the store, a meter's year by day, quantiles of a day.
// Options: `--write`. Ratios compare with reading the values alone, so that they hold on a busy machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTimeZones } from '../src/model/time-zone.ts';
import { Calendars } from '../src/query/calendars.ts';
import { DeviceQueries } from '../src/query/device-queries.ts';
import { openPublicHolidays } from '../src/query/public-holidays.ts';
import { foldNames, FoldReader } from '../src/query/summaries/folds.ts';
import { entryOf } from '../src/storage/samples/conformance/sample-entries.ts';
import { openTestSamples } from '../src/storage/samples/testing-samples.ts';
import { figureNotes, under, upTo } from './load/figure-notes.ts';
import { markdownTable, median, publish } from './load/measure.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const days = 365;
const start = Date.UTC(2025, 0, 1);
const count = (days * dayMs) / minuteMs;
const perEntry = 1_000;
const rounds = 9;
const { rows, note, noteNumber } = figureNotes();
const folder = mkdtempSync(join(tmpdir(), 'bench-folds-'));
const store = await openTestSamples({ directory: folder, now: Date.now });
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
const device = { id: 'meter', workspaceId: 'w1' };
const iso = (at: number): string => new Date(at).toISOString();

/** The middle of some durations in milliseconds, and the first. */
async function timed(work: () => unknown): Promise<{ first: number; middle: number }> {
  const durations: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const began = performance.now();
    await work();
    durations.push(performance.now() - began);
  }
  return { first: durations[0] ?? Number.NaN, middle: median(durations) };
}

try {
  for (let from = 0; from < count; from += perEntry) {
    const samples = Array.from({ length: Math.min(perEntry, count - from) }, (_, i) => ({
      at: start + (from + i) * minuteMs,
      data: { total: Math.round((from + i) * 1.7) / 10, power: 200 + ((from + i) % 97) },
    }));
    await store.append(entryOf(device.id, samples));
  }
  await store.sealAll();
  const end = start + days * dayMs;
  const interval = { from: iso(start), to: iso(end) };
  const body = { topic: 'default', dataKey: 'total', interval, timeZone: 'Europe/Zurich' };

  const edges = Array.from({ length: days + 1 }, (_, i) => start + i * dayMs);
  const size = 8_192;
  const batches = Array.from({ length: 64 }, (_, k) => {
    const timestamps = Float64Array.from(
      { length: size },
      (_, i) => start + (k * size + i) * minuteMs,
    );
    const numbers = timestamps.map((_, i) => (k * size + i) / 4);
    return { timestamps, columns: [{ numbers, types: undefined, ids: undefined, texts: [] }] };
  });
  const options = {
    interpolation: 'LINEAR',
    maxGapMs: 2 * dayMs,
    perMs: 1_000,
    state: 4,
    resets: 'GUARDED',
    now: Date.now(),
  } as const;
  for (const name of foldNames) {
    const { middle } = await timed(() => {
      const reader = new FoldReader(name, edges, options);
      for (const batch of batches) reader.add(batch);
      reader.finish();
    });
    noteNumber(
      `${name}, value in memory (ns)`,
      (middle * 1e6) / (batches.length * size),
      under(30),
    );
  }

  const request = { deviceId: device.id, topic: 'default', keys: ['total'], from: start, to: end };
  const read = await timed(async () => {
    let found = 0;
    for await (const { timestamps } of store.values({ ...request, before: true, after: true }))
      found += timestamps.length;
    if (found !== count) throw new Error(`${found} values instead of ${count}`);
  });
  noteNumber('reading a value in order (ns)', (read.middle * 1e6) / count);
  for (const accumulator of ['INCREASE', 'TIME_WEIGHTED_AVG', 'DISTINCT_COUNT']) {
    const query = { source: 'raw', body: { ...body, accumulator, bucketInterval: 'P1D' } } as const;
    const asked = await timed(() => queries.seriesOf(device, { ...query, now: end }));
    const goal = accumulator === 'DISTINCT_COUNT' ? undefined : under(30);
    noteNumber(`${accumulator} of a year by day (ms)`, asked.middle, goal);
    noteNumber(`${accumulator}, ratio to reading`, asked.middle / read.middle);
    note(`${accumulator}, first time (ms)`, asked.first.toFixed(1));
  }

  const day = {
    from: iso(end - 3 * dayMs + 7 * minuteMs),
    to: iso(end - 2 * dayMs + 7 * minuteMs),
  };
  for (const accumulator of ['AVG', 'MEDIAN', 'P95', 'MODE', 'STDDEV']) {
    const query = { source: 'raw', devices: [device], now: end } as const;
    const asked = { ...body, dataKey: 'power', interval: day, accumulator };
    const { middle } = await timed(() => queries.kpis({ ...query, body: asked }));
    noteNumber(`${accumulator} of 24 hours (ms)`, middle, upTo(1));
  }
  const table = markdownTable(['what', 'measured', 'goal'], rows);
  publish(
    'Accumulators in the order of time',
    [`A meter's year: ${count} samples, one a minute.`, table],
    folder,
  );
} finally {
  await store.close();
  rmSync(folder, { recursive: true });
}
