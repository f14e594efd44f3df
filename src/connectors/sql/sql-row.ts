// One row of a target table out of a message: the INSERT of each dialect and the values of its columns.
import type { SqlColumn, SqlProperties } from '../../model/target-properties.ts';
import { valueAt } from '../../model/data-value.ts';
import type { OutboundMessage } from '../target.ts';
import { PermanentRefusal } from '../send-failure.ts';

/** The one path that is no part of the template context: the id that is the same on every try. */
export const deliveryIdPath = 'deliveryId';

/** What a database is given for a column. */
export type SqlValue = string | number | boolean | null;

/** How a dialect writes things. */
export interface SqlDialect {
  quote(identifier: string): string;
  /** Of the 1-based parameter. */
  placeholder(position: number): string;
  /** What makes a row that is already there count as written; `column` is quoted. */
  ignoreDuplicates(column: string): string;
  time(epochMs: number): string;
}

export const postgresqlDialect: SqlDialect = {
  quote: (identifier) => `"${identifier.replaceAll('"', '""')}"`,
  placeholder: (position) => `$${position}`,
  ignoreDuplicates: () => ' ON CONFLICT DO NOTHING',
  time: (epochMs) => new Date(epochMs).toISOString(),
};

/** Times have no zone there; the session's is UTC. An update to itself, unlike IGNORE, hides no other error. */
export const mariadbDialect: SqlDialect = {
  quote: (identifier) => `\`${identifier.replaceAll('`', '``')}\``,
  placeholder: () => '?',
  ignoreDuplicates: (column) => ` ON DUPLICATE KEY UPDATE ${column} = ${column}`,
  time: (epochMs) => new Date(epochMs).toISOString().replace('T', ' ').replace('Z', ''),
};

/** The statement of a connector, the same for each message. */
export function insertStatement(dialect: SqlDialect, properties: SqlProperties): string {
  const { schema, table, columns, ignoreDuplicates } = properties;
  const target = [...(schema === null ? [] : [schema]), table].map(dialect.quote).join('.');
  const names = columns.map(({ column }) => dialect.quote(column));
  const values = columns.map((_, i) => dialect.placeholder(i + 1));
  const suffix = ignoreDuplicates ? dialect.ignoreDuplicates(names[0]!) : '';
  return `INSERT INTO ${target} (${names.join(', ')}) VALUES (${values.join(', ')})${suffix}`;
}

/** The values of the columns in their order; what is missing is NULL, objects and arrays are JSON texts. */
export function rowOf(
  dialect: SqlDialect,
  columns: readonly SqlColumn[],
  message: OutboundMessage,
): SqlValue[] {
  return columns.map(({ path, type }) => {
    const value = path === deliveryIdPath ? message.deliveryId : valueAt(message.context, path);
    if (value === undefined || value === null) return null;
    if (type === 'TIMESTAMP') return dialect.time(epochMsOf(value, path));
    if (typeof value === 'object') return JSON.stringify(value);
    return type === 'TEXT' ? String(value) : value;
  });
}

function epochMsOf(value: unknown, path: string): number {
  const epochMs =
    typeof value === 'number' ? value : typeof value === 'string' ? Date.parse(value) : Number.NaN;
  // Years of four digits are what all databases read.
  if (Math.abs(epochMs) < 253_402_300_800_000 && epochMs > -62_135_596_800_000) return epochMs;
  throw new PermanentRefusal(`${path} is no time: ${JSON.stringify(value)?.slice(0, 100)}`);
}
