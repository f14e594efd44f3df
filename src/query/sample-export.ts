// Samples of any number as one download, oldest first, made while it is read: NDJSON, CSV, or CSV for Excel.
import { formatInstant } from '../model/instant.ts';
import type { Sample } from '../model/sample.ts';
import type { TimeZone } from '../model/time-zone.ts';
import type { SampleRange } from '../samples/sample-store.ts';
import type { ReportedRange } from '../samples/reported-reads.ts';
import { refuseUnreadable } from '../samples/unreadable.ts';
import type { ReadingStore } from './sample-reader.ts';
import { type CsvForm, csvColumns, csvHeader, csvRow, excelCsv, plainCsv } from './csv-row.ts';

export type ExportFormat = 'csv' | 'excel' | 'ndjson';

export const exportTypes: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  excel: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
};

type ExportingStore = Pick<ReadingStore, 'exportSamples'>;

export interface SampleExport {
  /** Piece by piece; reading stops when the reader does. */
  readonly text: AsyncIterable<string>;
  /** Samples of the range cannot be read and are skipped. */
  readonly isIncomplete: boolean;
}

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
): Promise<SampleExport> {
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
  const columns = csvColumns();
  for await (const batch of store.exportSamples(range))
    for (const sample of batch) columns.add(sample);
  yield csvHeader(columns, form);
  for await (const batch of store.exportSamples(range))
    yield batch.map((sample) => csvRow(sample, columns, form)).join('');
}
