// Column values: JSON strings, flags as 0 and 1, search strings.
import { type Expression, type SqlBool, sql } from 'kysely';
import { fold } from '../../query/filters/predicates.ts';

/** The condition for a filter that the request sets; undefined stays undefined. */
export function ifGiven<Value, Condition>(
  value: Value | undefined,
  toCondition: (value: Value) => Condition,
): Condition | undefined {
  if (value === undefined) return undefined;
  return toCondition(value);
}

/** Null stays null. */
export function mapOrNull<From, To>(value: From | null, map: (value: From) => To): To | null {
  return value === null ? null : map(value);
}

export function toJsonText(value: unknown): string {
  return JSON.stringify(value);
}

/** The caller names the type that was written; nothing else writes these columns. */
export function fromJsonText<T>(text: string): T {
  return JSON.parse(text) as T;
}

export function toJsonTextOrNull(value: unknown): string | null {
  return mapOrNull(value ?? null, toJsonText);
}

export function fromJsonTextOrNull<T>(text: string | null): T | null {
  return mapOrNull(text, (json) => fromJsonText<T>(json));
}

export function toFlag(value: boolean): number {
  return Number(value);
}

export function fromFlag(value: number): boolean {
  return value !== 0;
}

export function toFlagOrNull(value: boolean | null): number | null {
  return mapOrNull(value, toFlag);
}

export function fromFlagOrNull(value: number | null): boolean | null {
  return mapOrNull(value, fromFlag);
}

/** Lower-cased here, not in SQL, because databases differ in what they treat as a letter. */
export function searchTextOf(...parts: readonly (string | null)[]): string {
  return parts
    .filter((part) => part !== null)
    .join('\n')
    .toLowerCase();
}

/** The form in which filters compare a string. */
export function keyOf(text: string): string;
export function keyOf(text: string | null): string | null;
export function keyOf(text: string | null): string | null {
  return mapOrNull(text, fold);
}

/** Whether the column contains the words literally, in any case; `!` is the escape character. */
export function contains(column: string, words: string): Expression<SqlBool> {
  const pattern = `%${words.toLowerCase().replace(/[!%_]/g, '!$&')}%`;
  return sql<SqlBool>`${sql.ref(column)} like ${pattern} escape '!'`;
}

/**
 * Whether the column is one of the values. One value is compared by `=`, so that an index on it
 * also gives the order.
 */
export function isOneOf(column: string, values: readonly string[]): Expression<SqlBool> {
  const [first, ...others] = values;
  if (first === undefined) return sql<SqlBool>`1 = 0`;
  if (others.length === 0) return sql<SqlBool>`${sql.ref(column)} = ${first}`;
  return sql<SqlBool>`${sql.ref(column)} in (${sql.join([...values])})`;
}

/** Of rows with the same key the last one: a statement that inserts or updates takes each once. */
export function lastOfEach<Row>(
  rows: readonly Row[],
  keyOfRow: (row: Row) => string,
): readonly Row[] {
  const places = new Map(rows.map((row, place) => [keyOfRow(row), place]));
  if (places.size === rows.length) return rows;
  return rows.filter((row, place) => places.get(keyOfRow(row)) === place);
}
