// Sample elements: samples that were read as columns, as the elements of the request that they were.
import { parseReadings } from '../../model/exact-json.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { isEpochMs } from '../../model/timestamp.ts';
import { missing } from '../../structures/missing.ts';
import type { SampleColumns, WrittenSamples } from './sample-scanner.ts';

/**
 * The samples of the rows, or all, as elements of a request: exactly those that were sent when their
 * bytes were kept.
 */
export function elementsOf(
  samples: SampleColumns,
  rows: Iterable<number> = samples.timestamps.keys(),
): Json[] {
  if (samples.written === undefined) return elementsOfColumns(samples, rows);
  const elements = parsed(samples.written);
  return Array.from(rows, (row) => elements[row] ?? missing('element'));
}

function parsed({ form, bytes }: WrittenSamples): Json[] {
  const written = bytes.toString();
  const elements = form === 'array' ? withoutComma(written) : joinedLines(written);
  return parseReadings(`[${elements}]`) as Json[];
}

function withoutComma(written: string): string {
  return written.endsWith(',') ? written.slice(0, -1) : written;
}

function joinedLines(written: string): string {
  return written
    .split('\n')
    .filter((line) => line.trim() !== '')
    .join(',');
}

function elementsOfColumns(
  { timestamps, topic, example, ...rest }: SampleColumns,
  rows: Iterable<number>,
): Json[] {
  return Array.from(rows, (row) => ({
    timestamp: timeText(timestamps[row] ?? missing('time')),
    data: dataOf(example, rest, row, { column: 0 }),
    ...(topic !== undefined && { topic }),
    ...(rest.deviceIds !== undefined && { deviceId: textOf(rest, rest.deviceIds[row]) }),
  }));
}

/** A number, unless it was written as a date that has no such number. */
function timeText(at: EpochMs): Json {
  return isEpochMs(at) ? at : formatInstant(at);
}

/** The data of a row: an object like the example, with the values of the columns in their order. */
function dataOf(
  example: JsonObject,
  samples: Pick<SampleColumns, 'columns' | 'kinds' | 'texts'>,
  row: number,
  next: { column: number },
): JsonObject {
  const data: Record<string, Json> = {};
  for (const [key, value] of Object.entries(example)) {
    if (isJsonObject(value)) {
      data[key] = dataOf(value, samples, row, next);
      continue;
    }
    const column = next.column++;
    const number = samples.columns[column]?.[row] ?? missing('value');
    const kind = samples.kinds[column];
    if (kind === 'text') data[key] = textOf(samples, number);
    else data[key] = kind === 'boolean' ? number === 1 : number;
  }
  return data;
}

function textOf({ texts }: Pick<SampleColumns, 'texts'>, index: number | undefined): string {
  return texts[index ?? -1] ?? missing('string');
}
