// Line protocol of InfluxDB: a measurement, tags, fields and a time on one line.
import { isJsonObject, type Json, type JsonObject } from '../../../model/json.ts';

/** Fields of one line; further ones are left out, because a line is read as a whole. */
const fieldsMax = 2_000;

/** The line of a point, times in milliseconds; undefined when it has no field. */
export function lineOf({
  measurement,
  tags,
  fields,
  epochMs,
}: {
  readonly measurement: string;
  /** Empty ones are omitted. */
  readonly tags: Readonly<Record<string, string>>;
  /** Objects and arrays become fields of their own, with dots between the names. */
  readonly fields: JsonObject;
  /** Undefined for the time of the server. */
  readonly epochMs: number | undefined;
}): string | undefined {
  const written: string[] = [];
  addFields(written, '', fields);
  if (written.length === 0) return undefined;
  const tagged = Object.entries(tags)
    .map(([name, value]) => [nameText(name), nameText(value)] as const)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `,${name}=${value}`);
  const start = `${oneLine(measurement).replaceAll(/[, ]/g, '\\$&')}${tagged.join('')}`;
  return `${start} ${written.join(',')}${epochMs === undefined ? '' : ` ${epochMs}`}`;
}

function addFields(written: string[], prefix: string, value: Json): void {
  if (written.length >= fieldsMax) return;
  if (Array.isArray(value) || isJsonObject(value)) {
    for (const [name, inner] of Object.entries(value))
      addFields(written, prefix === '' ? name : `${prefix}.${name}`, inner);
    return;
  }
  const name = nameText(prefix);
  const text = fieldText(value as string | number | boolean | null);
  if (name !== '' && text !== undefined) written.push(`${name}=${text}`);
}

/** Numbers are all floating, so that the type of a field does not depend on its first value. */
function fieldText(value: string | number | boolean | null): string | undefined {
  if (typeof value === 'string') return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : undefined;
  return value === null ? undefined : String(value);
}

/** Names and tag values; a backslash at the end would take the sign after it away. */
function nameText(text: string): string {
  return oneLine(text).replaceAll(/[,= ]/g, '\\$&');
}

function oneLine(text: string): string {
  return text.replaceAll(/[\r\n\0]+/g, ' ').replace(/\\+$/, '');
}
