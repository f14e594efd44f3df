// Members of JSON texts in SQL: the one place where the databases differ in how they are read.
import { type Expression, type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { RecordTables } from './schema.ts';

export interface JsonSql {
  /** The member as a text; null without one. The name may hold dots. */
  readonly text: (json: Expression<unknown>, name: string) => RawBuilder<string | null>;
  /** The member of the first item of an array, as a string. */
  readonly textOfFirst: (json: Expression<unknown>, name: string) => RawBuilder<string | null>;
  /** The member as a number; it must be one or absent. */
  readonly number: (json: Expression<unknown>, name: string) => RawBuilder<number | null>;
}

const sqlite: JsonSql = {
  text: (json, name) => sql`${json} ->> ${sql.lit(`$."${name}"`)}`,
  textOfFirst: (json, name) => sql`${json} ->> ${sql.lit(`$[0]."${name}"`)}`,
  number: (json, name) => sql`${json} ->> ${sql.lit(`$."${name}"`)}`,
};

const postgres: JsonSql = {
  text: (json, name) => sql`cast(${json} as jsonb) ->> ${sql.lit(name)}`,
  textOfFirst: (json, name) => sql`cast(${json} as jsonb) -> 0 ->> ${sql.lit(name)}`,
  number: (json, name) =>
    sql`cast(cast(${json} as jsonb) ->> ${sql.lit(name)} as double precision)`,
};

export function jsonSql(db: Kysely<RecordTables>): JsonSql {
  return db.getExecutor().adapter instanceof PostgresAdapter ? postgres : sqlite;
}
