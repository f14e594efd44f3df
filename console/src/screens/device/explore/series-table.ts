// Series table: the values of several lines by time, and the same as CSV and NDJSON in a zone.
import { zonedIso } from '../../../words/zone-times.ts';
import type { MetricSeries } from '../data/device-queries.ts';

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
