// Series table: the values of several lines by time, and the same as CSV and NDJSON in a zone.
import { zonedIso } from '../../../words/zone-times.ts';
import type { MetricSeries } from '../data/device-queries.ts';
import type { Bucket } from '../../../../../src/dashboards/buckets.ts';

export interface SeriesTable {
  readonly columns: readonly string[];
  readonly rows: readonly SeriesRow[];
}

export interface SeriesRow {
  /** ISO-8601, the start of the bucket. */
  readonly timestamp: string;
  readonly values: readonly (number | null)[];
}

/** Buckets in which any line has a value, oldest first; columns are in the order of the series. */
export function tableOf(
  series: readonly MetricSeries[],
  accumulator: string,
  columns: readonly string[],
): SeriesTable {
  const points = series.map(({ dataPoints }) => dataPoints[accumulator] ?? []);
  const rows = (series[0]?.timestamps ?? []).map((timestamp, at) => ({
    timestamp,
    values: points.map((values) => values[at] ?? null),
  }));
  return { columns, rows: rows.filter(({ values }) => values.some((value) => value !== null)) };
}

/** Fewer rows do not tell how often devices report. */
const rowsMin = 10;
/** Rows are even if this share of their cells has a value. */
const filledMin = 0.9;
/** As many values of a line, on average, may be joined into one: some devices send twice per wake. */
const joinedMax = 2;

/**
 * The shortest bucket in which lines of devices that report at other seconds share their rows;
 * undefined where they do already, or where a line would lose its detail. Times are epoch seconds.
 */
export function evenBucket(
  times: readonly number[],
  columns: readonly (readonly (number | null)[])[],
  buckets: readonly Bucket[],
): Bucket | undefined {
  const lines = columns
    .map((values) => times.filter((_, at) => typeof values[at] === 'number'))
    .filter((line) => line.length > 0);
  const rows = new Set(lines.flat()).size;
  if (lines.length < 2 || rows < rowsMin) return undefined;
  // The first bucket begins with the interval and is shorter.
  const step = (times[2] ?? 0) - (times[1] ?? 0);
  const cells = (seconds: number) =>
    lines.map((line) => {
      // The value was measured within its bucket, not at the start of it.
      return new Set(line.map((time) => Math.floor((time + step / 2) / seconds)));
    });
  const isEven = (filled: readonly ReadonlySet<number>[]) => {
    const count = filled.reduce((sum, values) => sum + values.size, 0);
    const all = new Set(filled.flatMap((values) => [...values])).size;
    return count >= all * filled.length * filledMin;
  };
  if (isEven(cells(step))) return undefined;
  const even = buckets.find(({ seconds }) => seconds > step && isEven(cells(seconds)));
  if (even === undefined) return undefined;
  const keepsDetail = cells(even.seconds).every(
    (values, at) => (lines[at]?.length ?? 0) <= values.size * joinedMax,
  );
  return keepsDetail ? even : undefined;
}

/** RFC 4180; times are those of the zone with its offset, such as `2026-11-22T14:05:00+01:00`. */
export function csvOf({ columns, rows }: SeriesTable, zone: string): string {
  const lines = rows.map(({ timestamp, values }) =>
    [
      zonedIso(timestamp, zone),
      ...values.map((value) => (value === null ? '' : String(value))),
    ].join(','),
  );
  return [['time', ...columns].map(csvCell).join(','), ...lines, ''].join('\r\n');
}

export function ndjsonOf({ columns, rows }: SeriesTable, zone: string): string {
  return rows
    .map(({ timestamp, values }) => {
      const members = columns.map((column, at) => [column, values[at] ?? null] as const);
      const row = { time: zonedIso(timestamp, zone), ...Object.fromEntries(members) };
      return `${JSON.stringify(row)}\n`;
    })
    .join('');
}

// A cell that begins like a formula would be one in a spreadsheet.
function csvCell(content: string): string {
  const safe = /^[=+\-@\t\r]/.test(content) ? `'${content}` : content;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
