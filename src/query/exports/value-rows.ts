// Value rows: the values of one sample, one row per leaf of its data, for Parquet.
import type { Json, JsonObject } from '../../model/json.ts';

/** One value of a sample. One of `number`, `text`, `boolean`, `json` and `latitude` is not null. */
export interface ValueRow {
  /** Path of the value in `data`, members joined by dots. */
  readonly key: string;
  readonly number: number | null;
  readonly text: string | null;
  readonly boolean: boolean | null;
  /** JSON of an array, of null, of an empty object, and of what is nested deeper than `depthMax`. */
  readonly json: string | null;
  /** With `longitude`: an object that has both as numbers is one row. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly altitude: number | null;
}

export const depthMax = 16;

/** A row without its key and value. */
export const noValue = {
  number: null,
  text: null,
  boolean: null,
  json: null,
  latitude: null,
  longitude: null,
  altitude: null,
} as const;

/** The rows of the data of a sample, in the order of its members. */
export function valueRows(data: JsonObject): ValueRow[] {
  const rows: ValueRow[] = [];
  addMembers(rows, data, '', 0);
  return rows;
}

function addMembers(rows: ValueRow[], members: JsonObject, path: string, depth: number): void {
  for (const [name, value] of Object.entries(members))
    if (value !== undefined) addValue(rows, path === '' ? name : `${path}.${name}`, value, depth);
}

/** Adds the rows of a value whose key has `depth` members before its last. */
export function addValue(rows: ValueRow[], key: string, value: Json, depth: number): void {
  if (typeof value === 'number') rows.push({ ...noValue, key, number: value });
  else if (typeof value === 'string') rows.push({ ...noValue, key, text: value });
  else if (typeof value === 'boolean') rows.push({ ...noValue, key, boolean: value });
  else if (!isNested(value) || depth === depthMax)
    rows.push({ ...noValue, key, json: JSON.stringify(value) });
  else addObject(rows, key, value, depth);
}

function isNested(value: Json): value is JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  return Object.keys(value).length > 0;
}

/** A location is one row; its other members, such as an accuracy, are rows as those of any object. */
function addObject(rows: ValueRow[], key: string, value: JsonObject, depth: number): void {
  const { latitude, longitude, altitude, ...others } = value;
  if (typeof latitude !== 'number' || typeof longitude !== 'number')
    return addMembers(rows, value, key, depth + 1);
  const isHeight = typeof altitude === 'number';
  rows.push({ ...noValue, key, latitude, longitude, altitude: isHeight ? altitude : null });
  addMembers(
    rows,
    isHeight || altitude === undefined ? others : { ...others, altitude },
    key,
    depth + 1,
  );
}
