// The one mapping between columns and values: JSON as text, flags as 0 and 1, search texts.
import { type Expression, type SqlBool, sql } from 'kysely';
import { fold } from '../filters/filter-values.ts';

export function toJsonText(value: unknown): string {
  return JSON.stringify(value);
}

/** The caller names the type that was written; nothing else writes these columns. */
export function fromJsonText<T>(text: string): T {
  return JSON.parse(text) as T;
}

export function toJsonTextOrNull(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}

export function fromJsonTextOrNull<T>(text: string | null): T | null {
  return text === null ? null : (JSON.parse(text) as T);
}

export function toFlag(value: boolean): number {
  return value ? 1 : 0;
}

export function fromFlag(value: number): boolean {
  return value !== 0;
}

export function toFlagOrNull(value: boolean | null): number | null {
  return value === null ? null : toFlag(value);
}

export function fromFlagOrNull(value: number | null): boolean | null {
  return value === null ? null : fromFlag(value);
}

/** Lower-cased here, not in SQL, because databases differ in what they take for a letter. */
export function searchTextOf(...parts: readonly (string | null)[]): string {
  return parts
    .filter((part) => part !== null)
    .join('\n')
    .toLowerCase();
}

/** The form in which filters compare a text. */
export function keyOf(text: string): string;
export function keyOf(text: string | null): string | null;
export function keyOf(text: string | null): string | null {
  return text === null ? null : fold(text);
}

/** Whether the column contains the words as they stand, whatever their case; `!` is the escape character. */
export function contains(column: string, words: string): Expression<SqlBool> {
  const pattern = `%${words.toLowerCase().replace(/[!%_]/g, '!$&')}%`;
  return sql<SqlBool>`${sql.ref(column)} like ${pattern} escape '!'`;
}

/** Whether the column holds one of the values. One value is compared by `=`, so that an index on it also gives the order. */
export function isOneOf(column: string, values: readonly string[]): Expression<SqlBool> {
  const [first, ...others] = values;
  if (first === undefined) return sql<SqlBool>`1 = 0`;
  return others.length === 0
    ? sql<SqlBool>`${sql.ref(column)} = ${first}`
    : sql<SqlBool>`${sql.ref(column)} in (${sql.join([...values])})`;
}
