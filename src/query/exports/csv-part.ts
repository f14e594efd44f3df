// CSV part: one line per value of a sample, as spreadsheets and scripts read them.
import { csvLine, withoutFormula } from '../../structures/csv.ts';
import type { SampleLine } from './sample-lines.ts';
import { valueRows, type ValueRow } from './value-rows.ts';

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
