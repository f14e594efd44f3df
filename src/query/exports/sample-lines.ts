// Sample lines: samples as NDJSON or CSV, with the fields of the samples query.
import { formatInstant } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Sample } from '../../model/sample.ts';
import { csvLine, withoutFormula } from '../../structures/csv.ts';
import { type ValueRow, valueRows } from './value-rows.ts';

/** A line, parsed. */
export interface SampleLine {
  readonly timestamp: string;
  readonly deviceId: string;
  readonly deviceName: string;
  readonly topic: string;
  readonly data: JsonObject;
}

/** One line with its line feed; undefined for a sample that is not exported. */
export function sampleLine(
  { timestamp, deviceId, topic, data, meta }: Sample,
  deviceName: string,
  {
    topics,
    keys,
  }: {
    readonly topics: readonly string[] | null;
    /** Members of `data`. A sample without any of them is not exported. */
    readonly keys: readonly string[] | null;
  },
): string | undefined {
  if (topics !== null && !topics.includes(topic)) return undefined;
  const exported = keys === null ? data : membersOf(data, keys);
  if (exported === undefined) return undefined;
  const line = {
    timestamp: formatInstant(timestamp),
    deviceId,
    deviceName,
    topic,
    data: exported,
    ...(meta !== undefined && { meta }),
  };
  return `${JSON.stringify(line)}\n`;
}

function membersOf(data: JsonObject, keys: readonly string[]): JsonObject | undefined {
  const members = keys.flatMap((key) => {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    return value === undefined ? [] : [[key, value] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

// CSV part: one line per value of a sample, as spreadsheets and scripts read them.

const header = csvLine(['time', 'device_id', 'device_name', 'topic', 'key', 'value']);

/** Lines of `sampleLine` as CSV (RFC 4180). `lines` may be empty; the first part has the header. */
export function csvPart(lines: string, isFirst: boolean): string {
  const written: string[] = isFirst ? [header] : [];
  for (const line of lines.split('\n')) {
    if (line === '') continue;
    const { timestamp, deviceId, deviceName, topic, data } = JSON.parse(line) as SampleLine;
    const sample = [timestamp, ...[deviceId, deviceName, topic].map(withoutFormula)];
    for (const row of valueRows(data))
      written.push(csvLine([...sample, withoutFormula(row.key), valueCell(row)]));
  }
  return written.join('');
}

/** A location is its degrees, latitude first, and its altitude if it has one. */
function valueCell({
  number,
  text,
  boolean,
  json,
  latitude,
  longitude,
  altitude,
}: ValueRow): string {
  if (number !== null) return String(number);
  if (boolean !== null) return String(boolean);
  if (latitude !== null)
    return [latitude, longitude, altitude].filter((one) => one !== null).join(' ');
  return withoutFormula(text ?? json ?? '');
}
