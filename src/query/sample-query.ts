// The samples query: which samples a request asks for, and how they are answered as JSON or as one download.
import { type EpochMs, formatInstant } from '../model/instant.ts';
import { parseBound } from '../model/timestamp.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import { defaultTopic, type Sample } from '../model/sample.ts';
import type { SampleRange, SampleScan } from '../storage/samples/sample-store.ts';
import { offsetAt, type TimeZone } from '../model/time-zone.ts';
import { refuseUnreadable, type ReportedRange } from '../storage/samples/reported-reads.ts';
import { csvLine, withoutFormula } from '../structures/csv.ts';

const sampleLimitDefault = 8_000;
const sampleLimitMax = 10_000;
/** Represents all topics. */
export const everyTopic = '*';

/** Bounds as ISO-8601 date-times; several on one side must all hold. */
export interface TimestampBounds {
  readonly gt?: string | null;
  readonly gte?: string | null;
  readonly lt?: string | null;
  readonly lte?: string | null;
}

export interface SampleQueryBody {
  /** `default` when absent. */
  readonly topic?: string | null;
  readonly timestamp?: TimestampBounds | null;
  readonly limit?: number | null;
  readonly skip?: number | null;
}

/** A sample as answers show it; `deviceId` is the service device id. */
interface SampleAnswer {
  readonly timestamp: string;
  readonly deviceId: string;
  readonly svcDeviceId: string;
  readonly akenzaDeviceId?: string;
  readonly topic: string;
  readonly data: JsonObject;
  readonly meta?: JsonObject;
}

/**
 * What the store is asked for; refuses (400) bounds that are no times and a limit outside 1 to
 * `sampleLimitMax`.
 */
export function sampleScan(deviceId: string, body: SampleQueryBody): SampleScan {
  const limit = body.limit ?? sampleLimitDefault;
  const skip = body.skip ?? 0;
  if (limit < 1 || limit > sampleLimitMax) {
    throw problem('invalidRequest', {
      reason: `limit must be from 1 to ${sampleLimitMax}, got ${limit}`,
    });
  }
  if (skip < 0)
    throw problem('invalidRequest', { reason: `skip must not be negative, got ${skip}` });
  return {
    deviceId,
    ...topicOf(body.topic ?? defaultTopic),
    ...rangeOf(body.timestamp),
    limit,
    skip,
  };
}

/** The topic criterion of a scan: none for `*`. */
export function topicOf(topic: string): { readonly topic?: string } {
  return topic === everyTopic ? {} : { topic };
}

/** The half-open range of the bounds, in whole milliseconds. */
export function rangeOf(bounds: TimestampBounds | null | undefined): {
  readonly from?: EpochMs;
  readonly to?: EpochMs;
} {
  const read = (bound: keyof TimestampBounds, added: number) => {
    const value = bounds?.[bound];
    return value === null || value === undefined
      ? []
      : [parseBound(`timestamp.${bound}`, value) + added];
  };
  const from = [...read('gt', 1), ...read('gte', 0)];
  const to = [...read('lt', 0), ...read('lte', 1)];
  return {
    ...(from.length > 0 ? { from: Math.max(...from) } : {}),
    ...(to.length > 0 ? { to: Math.min(...to) } : {}),
  };
}

/**
 * The wire form of a sample; `aliased` adds the name that older clients read the device id from
 * (contract 34).
 */
export function sampleAnswer(sample: Sample, aliased: boolean): SampleAnswer {
  const { deviceId, topic, data, meta } = sample;
  return {
    timestamp: formatInstant(sample.timestamp),
    deviceId,
    svcDeviceId: deviceId,
    ...(aliased ? { akenzaDeviceId: deviceId } : {}),
    topic,
    data,
    ...(meta === undefined ? {} : { meta }),
  };
}

// Samples of any number as one download, oldest first, made while it is read: NDJSON, CSV, or CSV for Excel.

type ExportFormat = 'csv' | 'excel' | 'ndjson';

export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  excel: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

type ExportingStore = { exportSamples(range: ReportedRange): AsyncIterable<readonly Sample[]> };

/**
 * Resolves when the first piece is made. Samples that turn out unreadable later break the text off
 * with Problem `samplesDamaged`, because its reader was told that it is whole; the next export
 * knows of them.
 */
export async function sampleExport(
  range: SampleRange,
  format: ExportFormat,
  store: ExportingStore,
  zone?: TimeZone,
): Promise<{
  /** Piece by piece; reading stops when the reader does. */
  readonly text: AsyncIterable<string>;
  /** Samples of the range cannot be read and are skipped. */
  readonly isIncomplete: boolean;
}> {
  let left = 0;
  let isPromised = false;
  const watched: ReportedRange = {
    ...range,
    unreadable: (samples) => {
      left++;
      if (isPromised) refuseUnreadable(samples);
    },
  };
  const form = format === 'excel' && zone !== undefined ? excelCsv(zone) : plainCsv;
  const pieces = format === 'ndjson' ? ndjsonText(watched, store) : csvText(watched, store, form);
  const first = await pieces.next();
  const isIncomplete = left > 0;
  isPromised = !isIncomplete;
  return { text: withFirst(first, pieces), isIncomplete };
}

async function* withFirst(
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
): AsyncGenerator<string> {
  if (first.done === true) return;
  try {
    yield first.value;
    yield* rest;
  } finally {
    await rest.return();
  }
}

/** One sample a line, with the fields of the samples query. */
async function* ndjsonText(range: ReportedRange, store: ExportingStore): AsyncGenerator<string> {
  for await (const batch of store.exportSamples(range)) yield batch.map(ndjsonLine).join('');
}

function ndjsonLine({ timestamp, deviceId, topic, data, meta }: Sample): string {
  const line = {
    timestamp: formatInstant(timestamp),
    deviceId,
    topic,
    data,
    ...(meta === undefined ? {} : { meta }),
  };
  return `${JSON.stringify(line)}\n`;
}

// The samples are read twice: the header comes first and needs the keys of all of them. A key that
// is stored for the first
// time in between has no column.
async function* csvText(
  range: ReportedRange,
  store: ExportingStore,
  form: CsvForm,
): AsyncGenerator<string> {
  const columns = new CsvColumns();
  for await (const batch of store.exportSamples(range))
    for (const sample of batch) columns.add(sample);
  yield csvHeader(columns, form);
  for await (const batch of store.exportSamples(range))
    yield batch.map((sample) => csvRow(sample, columns, form)).join('');
}

// Samples as CSV (RFC 4180): one column per data key, nested keys joined by dots, lists as JSON.

/** Data keys beyond this number share the last column, `otherData`, as JSON. */
const dataColumnsMax = 1_000;

const fixedColumns = ['deviceId', 'topic'];
const otherColumn = 'otherData';
const metaColumn = 'meta';

class CsvColumns {
  readonly #keys = new Set<string>();
  #meta = false;
  #other = false;

  /** Learns the keys of one sample. */
  add(sample: Sample): void {
    this.#meta ||= sample.meta !== undefined;
    for (const [key] of flattened(sample.data)) {
      if (this.#keys.has(key)) continue;
      if (this.#keys.size < dataColumnsMax) this.#keys.add(key);
      else this.#other = true;
    }
  }

  get keys(): ReadonlySet<string> {
    return this.#keys;
  }

  hasMeta(): boolean {
    return this.#meta;
  }

  hasOther(): boolean {
    return this.#other;
  }
}

/** How rows are written, and for whom. */
interface CsvForm {
  /** Before the header. */
  readonly mark: string;
  readonly timeName: string;
  readonly timeText: (at: EpochMs) => string;
  readonly line: (cells: readonly string[]) => string;
}

/** RFC 4180, with times that every program reads. */
const plainCsv: CsvForm = {
  mark: '',
  timeName: 'timestamp',
  timeText: formatInstant,
  line: (cells) => csvLine(cells),
};

/**
 * What Excel opens by a double click: a mark, without which it does not read UTF-8, semicolons, and
 * times of the zone as it recognizes them. The name of the column has the zone.
 */
function excelCsv(zone: TimeZone): CsvForm {
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

function csvHeader(columns: CsvColumns, form: CsvForm): string {
  const names = [
    form.timeName,
    ...fixedColumns,
    ...columns.keys,
    ...(columns.hasMeta() ? [metaColumn] : []),
    ...(columns.hasOther() ? [otherColumn] : []),
  ];
  return form.mark + form.line(names.map(withoutFormula));
}

function csvRow(sample: Sample, columns: CsvColumns, form: CsvForm): string {
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
