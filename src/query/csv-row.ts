// Samples as CSV (RFC 4180): one column per data key, nested keys joined by dots, lists as JSON.
import { formatInstant } from '../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { Sample } from '../model/sample.ts';
import { csvLine, withoutFormula } from '../structures/csv.ts';

/** Data keys beyond this number share the last column, `otherData`, as JSON. */
const dataColumnsMax = 1_000;

const fixedColumns = ['timestamp', 'deviceId', 'topic'];
const otherColumn = 'otherData';
const metaColumn = 'meta';

export interface CsvColumns {
  /** Learns the keys of one sample. */
  readonly add: (sample: Sample) => void;
  readonly keys: ReadonlySet<string>;
  readonly hasMeta: () => boolean;
  readonly hasOther: () => boolean;
}

export function csvColumns(): CsvColumns {
  const keys = new Set<string>();
  let meta = false;
  let other = false;
  return {
    add(sample) {
      meta ||= sample.meta !== undefined;
      for (const [key] of flattened(sample.data)) {
        if (keys.has(key)) continue;
        if (keys.size < dataColumnsMax) keys.add(key);
        else other = true;
      }
    },
    keys,
    hasMeta: () => meta,
    hasOther: () => other,
  };
}

export function csvHeader(columns: CsvColumns): string {
  const names = [
    ...fixedColumns,
    ...columns.keys,
    ...(columns.hasMeta() ? [metaColumn] : []),
    ...(columns.hasOther() ? [otherColumn] : []),
  ];
  return csvLine(names.map(withoutFormula));
}

export function csvRow(sample: Sample, columns: CsvColumns): string {
  const values = new Map(flattened(sample.data));
  const cells = [
    formatInstant(sample.timestamp),
    withoutFormula(sample.deviceId),
    withoutFormula(sample.topic),
  ];
  for (const key of columns.keys) cells.push(cell(values.get(key)));
  if (columns.hasMeta()) cells.push(cell(sample.meta));
  if (columns.hasOther()) {
    const others = [...values].filter(([key]) => !columns.keys.has(key));
    cells.push(others.length === 0 ? '' : cell(Object.fromEntries(others)));
  }
  return csvLine(cells);
}

function flattened(data: JsonObject, prefix = ''): [string, Json][] {
  return Object.entries(data).flatMap(([key, value]): [string, Json][] =>
    isJsonObject(value) && Object.keys(value).length > 0
      ? flattened(value, `${prefix}${key}.`)
      : [[`${prefix}${key}`, value]],
  );
}

function cell(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return withoutFormula(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
