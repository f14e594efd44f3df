// Samples as CSV (RFC 4180): one column per data key, nested keys joined by dots, lists as JSON.
import { type EpochMs, formatInstant } from '../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { Sample } from '../model/sample.ts';
import { offsetAt, type TimeZone } from '../model/time-zone.ts';
import { csvLine, withoutFormula } from '../structures/csv.ts';

/** Data keys beyond this number share the last column, `otherData`, as JSON. */
const dataColumnsMax = 1_000;

const fixedColumns = ['deviceId', 'topic'];
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

/** How rows are written, and for whom. */
export interface CsvForm {
  /** Before the header. */
  readonly mark: string;
  readonly timeName: string;
  readonly timeText: (at: EpochMs) => string;
  readonly line: (cells: readonly string[]) => string;
}

/** RFC 4180, with times that every program reads. */
export const plainCsv: CsvForm = {
  mark: '',
  timeName: 'timestamp',
  timeText: formatInstant,
  line: (cells) => csvLine(cells),
};

/**
 * What Excel opens by a double click: a mark, without which it does not read UTF-8, semicolons, and
 * times of the zone as it recognizes them. The name of the column has the zone.
 */
export function excelCsv(zone: TimeZone): CsvForm {
  return {
    mark: '\ufeff',
    timeName: `timestamp ${zone.id}`,
    timeText: (at) =>
      formatInstant(at + offsetAt(zone, at))
        .slice(0, 23)
        .replace('T', ' '),
    line: (cells) => csvLine(cells, /[";\r\n]/, ';'),
  };
}

export function csvHeader(columns: CsvColumns, form: CsvForm): string {
  const names = [
    form.timeName,
    ...fixedColumns,
    ...columns.keys,
    ...(columns.hasMeta() ? [metaColumn] : []),
    ...(columns.hasOther() ? [otherColumn] : []),
  ];
  return form.mark + form.line(names.map(withoutFormula));
}

export function csvRow(sample: Sample, columns: CsvColumns, form: CsvForm): string {
  const values = new Map(flattened(sample.data));
  const cells = [
    form.timeText(sample.timestamp),
    withoutFormula(sample.deviceId),
    withoutFormula(sample.topic),
  ];
  for (const key of columns.keys) cells.push(cell(values.get(key)));
  if (columns.hasMeta()) cells.push(cell(sample.meta));
  if (columns.hasOther()) {
    const others = [...values].filter(([key]) => !columns.keys.has(key));
    cells.push(others.length === 0 ? '' : cell(Object.fromEntries(others)));
  }
  return form.line(cells);
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
