// Records engine: the port to the database that keeps the records, and what SQLite and PostgreSQL write in different words.
import {
  type Expression,
  type Kysely,
  PostgresAdapter,
  type RawBuilder,
  sql,
  SqliteAdapter,
} from 'kysely';
import type { RecordChange } from '../../model/record.ts';
import type { ListChanges } from './list-cache.ts';
import type { RecordTables } from './schema.ts';

/** What a statement answers: its rows, or how many rows it changed. */
export interface StatementResult {
  readonly rows: unknown[];
  readonly changed?: number | bigint;
}

/** An open transaction; it ends with exactly one `commit` or `rollback`. */
export interface OpenTransaction {
  run(text: string, parameters: readonly unknown[]): Promise<StatementResult>;
  /** Resolves when the commit is on disk, or immediately with `isLazy`. */
  commit(isLazy: boolean): Promise<void>;
  rollback(): Promise<void>;
  /** Writes the changes for other nodes, with the commit. Does nothing on a single platform. */
  publish(changes: readonly RecordChange[]): void;
}

/**
 * Statements of one engine. Writers take turns: what a transaction has read stays true until it
 * commits.
 */
export interface EngineConnection {
  /** A statement outside transactions. A write is on disk when it resolves. */
  run(text: string, parameters: readonly unknown[]): Promise<StatementResult>;
  begin(): Promise<OpenTransaction>;
  /** A select for slow queries. Waiting tenants are served in turns. */
  readElsewhere(
    tenant: string,
    text: string,
    parameters: readonly unknown[],
  ): Promise<StatementResult>;
  close(): Promise<void>;
}

/** An open database, at the version of this program. */
export interface RecordsEngine {
  readonly db: Kysely<RecordTables>;
  /** See `Records.elsewhere`. */
  readonly elsewhere: (organizationId: string) => Kysely<RecordTables>;
  /** The revision of the device lists of an organization. */
  readonly revisionOf: (organizationId: string) => number;
  /** See `ListChanges.listsChanged`. */
  readonly listsChanged: ListChanges['listsChanged'];
  /** See `OpenRecords.hurry`. */
  hurry(): void;
  close(): Promise<void>;
}

export interface EngineEvents {
  /**
   * Called once, when the disk failed: from then on nothing is written any more, and writers are
   * refused with `recordsStopped`.
   */
  readonly stopped: (error: Error) => void;
  /** Called before an older database is brought to this version, and after. */
  readonly migrating?:
    | ((migration: {
        /** The newest migration before, and the one afterwards. */
        readonly from: string;
        readonly to: string;
        /** How many run. */
        readonly migrations: number;
        /** How long they took; undefined while they run. */
        readonly ms?: number;
      }) => void)
    | undefined;
  /** Called after each commit that published something for other nodes. */
  readonly published?: (() => void) | undefined;
}

export type OpenEngine = (events: EngineEvents) => Promise<RecordsEngine>;

/** Whether a statement reads alone. */
export function isSelect(text: string): boolean {
  return /^\s*select\b/i.test(text);
}

// Differences of SQL: the one table of what SQLite and PostgreSQL write in different words.

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
  rowTrigger: (trigger) => [sql`create trigger ${headOf(trigger)} begin ${trigger.work}; end`],
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
  rowTrigger: (trigger) => [
    sql`create function ${sql.id(trigger.name)}() returns trigger language plpgsql as $body$
      begin ${trigger.work}; return null; end $body$`,
    sql`create trigger ${headOf(trigger)} execute function ${sql.id(trigger.name)}()`,
  ],
};

function headOf({ name, event, table, columns, when }: RowTrigger) {
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

// Statistics of the query planner, after many rows were written.

/**
 * Tells SQLite how many rows its indexes stand for, where that changed much: without, it walks
 * whole lists where an index on a custom field would find the device at once. PostgreSQL sees to
 * that itself.
 */
export async function refreshStatistics(db: Kysely<RecordTables>): Promise<void> {
  if (!(db.getExecutor().adapter instanceof SqliteAdapter)) return;
  await sql`pragma analysis_limit = 1000`.execute(db);
  // All tables that were ever given an index, whether this connection read them or not.
  await sql`pragma optimize = 0x10002`.execute(db);
}

// Padded ids: lists of ids in few lengths, so that few statements stay compiled.

const counts = [1, 8, 64, 256] as const;

/** At most this many ids are in one statement. */
export const idsPerStatement = 256;

/** Repeats the last id up to the next permitted length. */
export function padded(ids: readonly string[]): string[] {
  const count = counts.find((each) => each >= ids.length) ?? ids.length;
  const last = ids.at(-1);
  if (last === undefined) return [];
  return [...ids, ...Array.from({ length: count - ids.length }, () => last)];
}
