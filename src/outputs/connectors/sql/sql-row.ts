// SQL row: the INSERT statement of each dialect and the values of its columns for a message.
import { valueAt } from '../../../model/data-value.ts';
import type { Json } from '../../../model/json.ts';
import { PermanentRefusal } from '../send-failure.ts';
import type { OutboundMessage } from '../target.ts';
import type { SqlColumn, SqlProperties } from './sql-properties.ts';

/**
 * The one path that is not part of the template context: the id, which is the same for every
 * attempt.
 */
export const deliveryIdPath = 'deliveryId';

/** The value of a column. */
export type SqlValue = string | number | boolean | null;

/** Syntax of a dialect. */
export interface SqlDialect {
  quote(identifier: string): string;
  /** `position` counts from 1. */
  placeholder(position: number): string;
  /** The clause with which an existing row counts as written; `column` is quoted. */
  ignoreDuplicates(column: string): string;
  time(epochMs: number): string;
}

export const postgresqlDialect: SqlDialect = {
  quote: (identifier) => `"${identifier.replaceAll('"', '""')}"`,
  placeholder: (position) => `$${position}`,
  ignoreDuplicates: () => ' ON CONFLICT DO NOTHING',
  time: (epochMs) => new Date(epochMs).toISOString(),
};

/**
 * Times have no zone; the session uses UTC. An update of a column to itself hides no other error,
 * as IGNORE would.
 */
export const mariadbDialect: SqlDialect = {
  quote: (identifier) => `\`${identifier.replaceAll('`', '``')}\``,
  placeholder: () => '?',
  ignoreDuplicates: (column) => ` ON DUPLICATE KEY UPDATE ${column} = ${column}`,
  time: (epochMs) => new Date(epochMs).toISOString().replace('T', ' ').replace('Z', ''),
};

/** Returns the statement of a connector, which is the same for every message. */
export function insertStatement(dialect: SqlDialect, properties: SqlProperties): string {
  const { schema, table, columns, ignoreDuplicates } = properties;
  const target = [schema, table].filter((name) => name !== null).map(dialect.quote);
  const names = columns.map(({ column }) => dialect.quote(column));
  const values = columns.map((_, i) => dialect.placeholder(i + 1));
  const statement = `INSERT INTO ${target.join('.')} (${names.join(', ')}) VALUES (${values.join(', ')})`;
  const [first] = names;
  if (!ignoreDuplicates || first === undefined) return statement;
  return statement + dialect.ignoreDuplicates(first);
}

/**
 * Returns the values of the columns in their order. Missing values are NULL, objects and arrays are
 * JSON strings.
 */
export function rowOf(
  dialect: SqlDialect,
  columns: readonly SqlColumn[],
  { deliveryId, context }: OutboundMessage,
): SqlValue[] {
  const values = { ...context, [deliveryIdPath]: deliveryId };
  return columns.map((column) => columnValue(dialect, column, valueAt(values, column.path)));
}

function columnValue(
  dialect: SqlDialect,
  { path, type }: SqlColumn,
  value: Json | undefined,
): SqlValue {
  if (value === undefined || value === null) return null;
  if (type === 'TIMESTAMP') return dialect.time(epochMsOf(value, path));
  if (typeof value === 'object') return JSON.stringify(value);
  if (type === 'TEXT') return String(value);
  return value;
}

/** The years 1 to 9999. */
const epochMsMin = -62_135_596_800_000;
const epochMsMax = 253_402_300_800_000;

function epochMsOf(value: Json, path: string): number {
  const epochMs = typeof value === 'string' ? Date.parse(value) : value;
  // All databases can read years of four digits.
  if (typeof epochMs === 'number' && epochMs > epochMsMin && epochMs < epochMsMax) return epochMs;
  throw new PermanentRefusal(`${path} is not a timestamp: ${JSON.stringify(value).slice(0, 100)}`);
}
