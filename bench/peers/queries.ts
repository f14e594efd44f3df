// The queries every engine is asked, and the answers they must give, computed from the workload itself.
import {
  type SampleColumns,
  type WorkloadShape,
  dataAt,
  deviceColumns,
  endMsOf,
  labels,
  slotMsOf,
} from '../load/workload.ts';

export const hourMs = 3_600_000;
export const dayMs = 86_400_000;

export type QueryName =
  | 'last100'
  | 'rawKpi24h'
  | 'rawSeries24h'
  | 'hourlyKpi'
  | 'hourlySeries'
  | 'rawSum100'
  | 'hourlyKpiAll'
  | 'averageAll'
  | 'latest'
  | 'rawSeries7d'
  | 'hourlySeries7d'
  | 'latestEach'
  | 'rawKpiSpan'
  | 'rawKpi1000';

/**
 * Every answer is a list of numbers, so that all engines can be compared alike: a KPI is one
 * number, a series one per bucket, a KPI of many devices one per device in the order asked, samples
 * seven each (timestamp, four numbers, occupied as 0 or 1, index of the label), newest first.
 */
export interface Query extends Interval {
  readonly name: QueryName;
  /** Device indexes, ascending; one for queries of one device. */
  readonly devices: readonly number[];
}

/** `from` inclusive, `to` exclusive, epoch milliseconds. */
interface Interval {
  readonly from: number;
  readonly to: number;
}

export const queryTitles: Record<QueryName, string> = {
  last100: 'last 100 samples, one device',
  rawKpi24h: 'raw AVG over 24 h, one device',
  rawSeries24h: 'raw AVG over 24 h by PT1H, one device',
  hourlyKpi: 'hourly AVG over the whole span, one device',
  hourlySeries: 'hourly AVG by P1D over the whole span, one device',
  rawSum100: 'raw SUM over 24 h, 100 devices',
  hourlyKpiAll: 'hourly AVG over the whole span, every device',
  averageAll: 'AVG over all samples',
  rawSeries7d: 'raw AVG by P1D over 7 days, one device',
  hourlySeries7d: 'hourly AVG by PT1H over 7 days, one device',
  latest: 'latest sample, one device',
  latestEach: 'latest sample, each of 300 devices',
  rawKpiSpan: 'raw AVG over the whole span, one device',
  rawKpi1000: 'raw AVG over the whole span, each of 1,000 devices',
};

const allNames = Object.keys(queryTitles) as QueryName[];

/** What is asked of workload W. */
export const queryNames: readonly QueryName[] = allNames.slice(0, 12);

/** What is asked of a fleet of sparse devices, without hourly aggregates. */
export const fleetQueryNames: readonly QueryName[] = [
  'latest',
  'rawKpi24h',
  'rawKpiSpan',
  'rawSum100',
  'rawKpi1000',
  'averageAll',
];

/** Whether the answer has a number for each device. */
export function isOfEach(name: QueryName): boolean {
  return name === 'hourlyKpiAll' || name === 'rawKpi1000' || name === 'latestEach';
}

/** How often each is timed: often when small, seldom when it reads everything. */
export const repetitions: Record<QueryName, number> = {
  last100: 300,
  rawKpi24h: 300,
  rawSeries24h: 300,
  hourlyKpi: 300,
  hourlySeries: 300,
  rawSum100: 40,
  hourlyKpiAll: 20,
  averageAll: 7,
  rawSeries7d: 300,
  hourlySeries7d: 300,
  latestEach: 40,
  latest: 300,
  rawKpiSpan: 300,
  rawKpi1000: 20,
};

export const lastSamples = 100;
const sumDevices = 100;
const kpiDevices = 1_000;
const latestDevices = 300;
/** Of the longer series. */
const seriesDays = 7;

/**
 * The n-th query of a kind: the same devices and times for every engine. Windows of a day begin
 * anywhere, so that they cut the blocks of engines that keep statistics of whole blocks.
 */
export function queryOf(name: QueryName, n: number, shape: WorkloadShape): Query {
  const random = fractions(n * 8 + allNames.indexOf(name));
  const device = Math.floor(random() * shape.devices);
  const whole = { from: shape.startMs, to: endMsOf(shape) };
  const slackMs = whole.to - whole.from - dayMs;
  if (slackMs <= 0) throw new Error('Windows of a day need samples of more than one day');
  const place = random();
  const from = shape.startMs + Math.floor(place * slackMs);
  const spanMs = Math.min(seriesDays, shape.days) * dayMs;
  const spanFrom = (unitMs: number): number =>
    shape.startMs + Math.floor((place * (whole.to - whole.from - spanMs)) / unitMs) * unitMs;
  const days = { from: spanFrom(dayMs), to: spanFrom(dayMs) + spanMs };
  const hours = { from: spanFrom(hourMs), to: spanFrom(hourMs) + spanMs };
  const hour = from - (from % hourMs);
  const aDay = { from, to: from + dayMs };
  const hourlyDay = { from: hour, to: hour + dayMs };
  const one = [device];
  const all = (): number[] => Array.from({ length: shape.devices }, (_, i) => i);
  const some = (most: number): number[] => {
    const count = Math.min(most, shape.devices);
    return [
      ...new Set(Array.from({ length: count }, (_, i) => (device + i * 7) % shape.devices)),
    ].sort((a, b) => a - b);
  };
  const spans: Record<QueryName, () => Omit<Query, 'name'>> = {
    last100: () => ({ devices: one, ...whole }),
    rawKpi24h: () => ({ devices: one, ...aDay }),
    rawSeries24h: () => ({ devices: one, ...hourlyDay }),
    hourlyKpi: () => ({ devices: one, ...whole }),
    hourlySeries: () => ({ devices: one, ...whole }),
    rawSum100: () => ({ devices: some(sumDevices), ...aDay }),
    rawSeries7d: () => ({ devices: one, ...days }),
    hourlySeries7d: () => ({ devices: one, ...hours }),
    latestEach: () => ({ devices: some(latestDevices), ...whole }),
    hourlyKpiAll: () => ({ devices: all(), ...whole }),
    averageAll: () => ({ devices: all(), ...whole }),
    latest: () => ({ devices: one, ...whole }),
    rawKpiSpan: () => ({ devices: one, ...whole }),
    rawKpi1000: () => ({ devices: some(kpiDevices), ...whole }),
  };
  return { name, ...spans[name]() };
}

/**
 * Computes answers from the workload. Keeps what it made of each device, so that asking again is
 * cheap.
 */
export function referenceFor(shape: WorkloadShape): (query: Query) => number[] {
  const made = new Map<number, SampleColumns>();
  const columnsOf = (device: number): SampleColumns => {
    const columns = made.get(device) ?? deviceColumns(shape, device);
    made.set(device, columns);
    return columns;
  };
  const total = (devices: readonly number[], interval: Interval): Total =>
    devices
      .map((device) => totalOf(columnsOf(device), interval, slotMsOf(shape)))
      .reduce(merged, { sum: 0, count: 0 });
  const kpi = (query: Query): number[] => [average(total(query.devices, query))];
  const series = (query: Query, stepMs: number): number[] =>
    starts(query, stepMs).map((from) => average(total(query.devices, { from, to: from + stepMs })));
  const answers: Record<QueryName, (query: Query) => number[]> = {
    last100: (query) => lastOf(columnsOf(query.devices[0]!), lastSamples),
    latest: (query) => lastOf(columnsOf(query.devices[0]!), 1),
    rawKpiSpan: kpi,
    rawKpi1000: (query) => query.devices.map((device) => average(total([device], query))),
    rawKpi24h: kpi,
    rawSeries24h: (query) => series(query, hourMs),
    hourlyKpi: kpi,
    hourlySeries: (query) => series(query, dayMs),
    rawSeries7d: (query) => series(query, dayMs),
    hourlySeries7d: (query) => series(query, hourMs),
    latestEach: (query) => query.devices.map((device) => lastOf(columnsOf(device), 1)[1]!),
    rawSum100: (query) => [total(query.devices, query).sum / 100],
    hourlyKpiAll: (query) => query.devices.map((device) => average(total([device], query))),
    averageAll: kpi,
  };
  return (query) => answers[query.name](query);
}

// The bucket starts of an interval whose `from` is itself one.
function starts(interval: Interval, stepMs: number): number[] {
  return Array.from(
    { length: Math.ceil((interval.to - interval.from) / stepMs) },
    (_, i) => interval.from + i * stepMs,
  );
}

// Sums of whole hundredths are exact in a double, so the reference itself has no rounding error but
// the last division.
interface Total {
  readonly sum: number;
  readonly count: number;
}

function totalOf(columns: SampleColumns, { from, to }: Interval, slotMs: number): Total {
  // Samples come one a slot, so the first that can be inside is found by arithmetic.
  const first = Math.max(0, Math.floor((from - columns.timestamp[0]!) / slotMs) - 1);
  let sum = 0;
  let count = 0;
  for (let i = first; i < columns.length && columns.timestamp[i]! < to; i++) {
    if (columns.timestamp[i]! < from) continue;
    sum += columns.temperatureHundredths[i]!;
    count++;
  }
  return { sum, count };
}

function merged(a: Total, b: Total): Total {
  return { sum: a.sum + b.sum, count: a.count + b.count };
}

function average({ sum, count }: Total): number {
  return sum / count / 100;
}

function lastOf(columns: SampleColumns, count: number): number[] {
  const numbers: number[] = [];
  for (let i = columns.length - 1; i >= Math.max(0, columns.length - count); i--) {
    const data = dataAt(columns, i);
    numbers.push(
      columns.timestamp[i]!,
      data.temperature,
      data.humidity,
      data.co2,
      data.batteryLevel,
    );
    numbers.push(data.occupied ? 1 : 0, labels.indexOf(data.label as (typeof labels)[number]));
  }
  return numbers;
}

/**
 * Undefined when the answers are equal within 1e-9 relative; else the first difference, in words.
 */
export function difference(got: readonly number[], wanted: readonly number[]): string | undefined {
  if (got.length !== wanted.length) return `${got.length} numbers instead of ${wanted.length}`;
  const at = wanted.findIndex(
    (w, i) => !(Math.abs(got[i]! - w) <= 1e-9 * Math.max(1e-300, Math.abs(w))),
  );
  return at < 0 ? undefined : `number ${at} is ${got[at]} instead of ${wanted[at]}`;
}

function fractions(seed: number): () => number {
  let x = (seed + 1) * 0x9e3779b1;
  return () => {
    x = Math.imul(x ^ (x >>> 16), 0x45d9f3b) + 0x6d2b79f5;
    return ((x ^ (x >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
