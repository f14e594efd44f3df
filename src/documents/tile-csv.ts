// CSV of a tile: a row for each time, and a column for each series (contract 39).
import { csvLine, withoutFormula } from '../structures/csv.ts';

/** One series, or the newest value of one. */
export interface CsvColumn {
  readonly label: string;
  readonly unit: string;
  /** ISO-8601 date-times; a column has a value for each. */
  readonly timestamps: readonly string[];
  readonly values: readonly unknown[];
}

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/** Lines in the order of time, with times in the zone. Columns have the same times, or single ones. */
export function* tileCsv(columns: readonly CsvColumn[], zone: string): Generator<string> {
  yield csvLine([
    'time',
    ...columns.map(({ label, unit }) => guarded(unit === '' ? label : `${label} (${unit})`)),
  ]);
  const rows = new Map<number, unknown[]>();
  for (const [place, { timestamps, values }] of columns.entries())
    for (const [at, timestamp] of timestamps.entries()) {
      const ms = Date.parse(timestamp);
      const row = rows.get(ms) ?? [];
      row[place] = values[at];
      rows.set(ms, row);
    }
  for (const ms of [...rows.keys()].toSorted((a, b) => a - b)) {
    const row = rows.get(ms) ?? [];
    yield csvLine([timeOf(ms, zone), ...columns.map((_, place) => cellOf(row[place]))]);
  }
}

/** With the offset that the zone has at that time. */
function timeOf(ms: number, zone: string): string {
  const smallestUnit = ms % 1_000 === 0 ? 'second' : 'millisecond';
  return Temporal.Instant.fromEpochMilliseconds(ms).toString({ timeZone: zone, smallestUnit });
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  return guarded(typeof value === 'string' ? value : JSON.stringify(value));
}

function guarded(text: string): string {
  return number.test(text) ? text : withoutFormula(text);
}
