// Differences of SQL: the one table of what SQLite and PostgreSQL write in different words.
import { type Expression, type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';
import type { RecordTables } from './schema.ts';

export interface RowTrigger {
  readonly name: string;
  readonly event: 'insert' | 'update' | 'delete';
  readonly table: string;
  /** Of an update: only changes of these columns. */
  readonly columns?: readonly string[];
  /** Of the rows `old` and `new`. */
  readonly when?: RawBuilder<unknown>;
  /** One statement. */
  readonly work: RawBuilder<unknown>;
}

export interface EngineSql {
  /** The member of JSON as a string; null without one. The name may hold dots. */
  readonly text: (json: Expression<unknown>, name: string) => RawBuilder<string | null>;
  /** The member of the first item of an array, as a string. */
  readonly textOfFirst: (json: Expression<unknown>, name: string) => RawBuilder<string | null>;
  /** The member as a number; it must be one or absent. */
  readonly number: (json: Expression<unknown>, name: string) => RawBuilder<number | null>;
  /** A number that is compared with a column of any number type. */
  readonly comparable: (value: number) => RawBuilder<number>;
  /** The place of a string in another one, from 1 on; 0 when it is not there. */
  readonly placeIn: (text: Expression<unknown>, sought: string) => RawBuilder<number>;
  readonly lineBreak: RawBuilder<string>;
  /** What makes a trigger that runs once for each row. */
  readonly rowTrigger: (trigger: RowTrigger) => readonly RawBuilder<unknown>[];
}

const sqlite: EngineSql = {
  text: (json, name) => sql`${json} ->> ${sql.lit(`$."${name}"`)}`,
  textOfFirst: (json, name) => sql`${json} ->> ${sql.lit(`$[0]."${name}"`)}`,
  number: (json, name) => sql`${json} ->> ${sql.lit(`$."${name}"`)}`,
  comparable: (value) => sql`${value}`,
  placeIn: (text, sought) => sql`instr(${text}, ${sought})`,
  lineBreak: sql`char(10)`,
  rowTrigger: ({ work, ...trigger }) => [sql`create trigger ${headOf(trigger)} begin ${work}; end`],
};

/**
 * `json` keeps what was written, where `jsonb` refuses the escape of NUL, which scripts may
 * store.
 */
const postgres: EngineSql = {
  text: (json, name) => sql`(cast(${json} as json) ->> ${sql.lit(name)})`,
  textOfFirst: (json, name) => sql`(cast(${json} as json) -> 0 ->> ${sql.lit(name)})`,
  number: (json, name) => sql`cast(cast(${json} as json) ->> ${sql.lit(name)} as double precision)`,
  // A parameter has the type of its column, and an integer column refuses 1.5.
  comparable: (value) =>
    Number.isSafeInteger(value) ? sql`${value}` : sql`cast(${value} as double precision)`,
  placeIn: (text, sought) => sql`strpos(${text}, ${sought})`,
  lineBreak: sql`chr(10)`,
  rowTrigger: ({ work, ...trigger }) => [
    sql`create function ${sql.id(trigger.name)}() returns trigger language plpgsql as $body$
      begin ${work}; return null; end $body$`,
    sql`create trigger ${headOf(trigger)} execute function ${sql.id(trigger.name)}()`,
  ],
};

function headOf({ name, event, table, columns, when }: Omit<RowTrigger, 'work'>) {
  const of =
    columns === undefined ? sql`` : sql` of ${sql.join(columns.map((one) => sql.ref(one)))}`;
  const condition = when === undefined ? sql`` : sql` when (${when})`;
  return sql`${sql.id(name)} after ${sql.raw(event)}${of} on ${sql.table(table)} for each row${condition}`;
}

export function engineSql(db: Kysely<RecordTables>): EngineSql {
  return db.getExecutor().adapter instanceof PostgresAdapter ? postgres : sqlite;
}

/** Makes a trigger that runs once for each row. Triggers are part of the transaction they follow. */
export async function addRowTrigger(db: Kysely<RecordTables>, trigger: RowTrigger): Promise<void> {
  for (const statement of engineSql(db).rowTrigger(trigger)) await statement.execute(db);
}
