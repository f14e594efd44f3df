// PostgreSQL engine: the records in a database of a server.
import { setTimeout as delay } from 'node:timers/promises';
import {
  ColumnDefinitionNode,
  ColumnNode,
  type CreateIndexNode,
  type DataTypeNode,
  type Kysely,
  type OperationNode,
  type OrderByItemNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  RawNode,
  ReferenceNode,
  sql,
} from 'kysely';
import pg, { escapeLiteral } from 'pg';
import { problem } from '../../../model/problem.ts';
import type { RecordChange } from '../../../model/record.ts';
import { DataFolderError } from '../../data-folder/data-folder.ts';
import {
  type EngineConnection,
  isSelect,
  type OpenEngine,
  type OpenTransaction,
  type StatementResult,
} from '../engine.ts';
import { type KyselyParts, openLanes, TenantTurns, WriteLock } from '../connection-pool.ts';
import { ListChanges, organizationOf } from '../list-cache.ts';
import { migrate } from '../migrations.ts';
import { NodeAdapter } from '../rows/shared-records.ts';
import { type RecordsDb, transaction } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import {
  isLost,
  isUnconnected,
  placeOf,
  postgresLimits,
  type PostgresServer,
  recordsError,
  sessionOf,
  versionMin,
} from './server.ts';

// Connection to PostgreSQL: one session writes, in turns with other nodes; others read what is committed.

/** How often a server that takes no connections is tried. */
const probeEveryMs = 500;

/**
 * While the server takes no connections, statements are refused at once, because each would wait
 * for a connection of its own; one probe finds out when it is back.
 */
class Reach {
  readonly #probe: () => Promise<unknown>;
  #isLost = false;
  #isClosed = false;

  constructor(probe: () => Promise<unknown>) {
    this.#probe = probe;
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isLost) throw problem('recordsUnreachable');
    try {
      return await work();
    } catch (error) {
      if (isUnconnected(error) && !this.#isLost) void this.#waitForServer();
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
  }

  async #waitForServer(): Promise<void> {
    this.#isLost = true;
    while (this.#isLost && !this.#isClosed) {
      await delay(probeEveryMs, undefined, { ref: false });
      await this.#probe().then(
        () => {
          this.#isLost = false;
        },
        () => undefined,
      );
    }
  }
}

/**
 * Connects with the first statement. See `EngineEvents.published`. All functions reject with the
 * problems of `recordsError` or the error of PostgreSQL.
 */
function openPostgresConnection(
  server: PostgresServer,
  lists: ListChanges,
  published: (() => void) | undefined,
): EngineConnection & {
  /** Limits the statements of writers, from now on. */
  limitStatements(): Promise<void>;
  hurry(): void;
} {
  const { ran, changed, allChanged } = lists;
  const writer = new Writer(server, { changed, replaced: allChanged });
  const lock = new WriteLock();
  const readers = openReaders(server, postgresLimits.readersMax);
  const elsewhere = openReaders(server, postgresLimits.elsewhereMax);
  const turns = new TenantTurns(postgresLimits.elsewhereMax);
  const reach = new Reach(() => readers.query('select 1'));

  const begin = async (): Promise<OpenTransaction> => {
    const release = await lock.take();
    try {
      const session = await writer.session();
      await beginOn(session, server);
      ran('begin');
      return openTransaction(session, { lists, published, release, node: server.node });
    } catch (error) {
      release();
      throw error;
    }
  };

  const run = async (text: string, parameters: readonly unknown[]): Promise<StatementResult> => {
    if (isSelect(text)) return runOn(readers, text, parameters);
    if (server.node !== undefined) return runInTurn(await begin(), text, parameters);
    const release = await lock.take();
    try {
      const session = await writer.session();
      ran('begin');
      return await runOn(session, text, parameters);
    } finally {
      // What triggers reported during the statement is visible to others only from now on.
      ran('commit');
      release();
    }
  };

  return {
    run: (text, parameters) => reach.use(() => run(text, parameters)),
    begin: () => reach.use(begin),
    readElsewhere: (tenant, text, parameters) =>
      reach.use(() => turns.run(tenant, () => runOn(elsewhere, text, parameters))),
    limitStatements: () => writer.limitStatements(postgresLimits.writeMsMax),
    hurry: writer.hurry,
    async close() {
      reach.close();
      const release = await lock.take();
      await Promise.all([writer.close(), readers.end(), elsewhere.end()]);
      release();
    },
  };
}

function openReaders({ url }: PostgresServer, max: number): pg.Pool {
  const pool = new pg.Pool({ ...sessionOf(url, postgresLimits.readMsMax), max });
  // A session that is lost while it is idle is replaced by the next statement.
  pool.on('error', () => undefined);
  return pool;
}

async function beginOn(session: pg.Client, server: PostgresServer): Promise<void> {
  try {
    await session.query(beginQuery(server));
  } catch (error) {
    // Without a turn in time, the transaction has begun and failed.
    await session.query('rollback').catch(() => undefined);
    throw recordsError(error);
  }
}

/** A statement that is a transaction. */
async function runInTurn(
  transaction: OpenTransaction,
  text: string,
  parameters: readonly unknown[],
): Promise<StatementResult> {
  try {
    const result = await transaction.run(text, parameters);
    await transaction.commit(false);
    return result;
  } catch (error) {
    await transaction.rollback();
    throw error;
  }
}

function openTransaction(
  session: pg.Client,
  {
    lists: { ran, changing },
    published,
    release,
    node,
  }: {
    readonly lists: ListChanges;
    readonly published: (() => void) | undefined;
    readonly release: () => void;
    /** Undefined where there are no other nodes. */
    readonly node: string | undefined;
  },
): OpenTransaction {
  const changes: RecordChange[] = [];
  const news = () => (node === undefined ? [] : newsQueries(node, changes, changing()));
  let isOpen = true;
  const end = (): void => {
    isOpen = false;
    release();
  };
  return {
    run: (text, parameters) => runOn(session, text, parameters),
    publish: (added) => void changes.push(...added),
    async commit(isLazy) {
      const lazily = isLazy ? ['set local synchronous_commit = off'] : [];
      const own = news();
      const text = [...own, ...lazily, 'commit'].join('; ');
      try {
        const answer: unknown = await session.query(text);
        const last = (Array.isArray(answer) ? answer.at(-1) : answer) as pg.QueryResult;
        // PostgreSQL answers the commit of a failed transaction with a rollback, without an error.
        if (last.command !== 'COMMIT')
          throw new Error('The transaction had failed before its commit');
      } catch (error) {
        throw recordsError(error);
      }
      ran('commit');
      if (own.length > 0) published?.();
      end();
    },
    async rollback() {
      if (!isOpen) return;
      try {
        await session.query('rollback');
      } catch (error) {
        // A lost session has rolled back.
        if (!isLost(error)) throw recordsError(error);
      } finally {
        ran('rollback');
        end();
      }
    },
  };
}

const counted = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

async function runOn(
  on: pg.ClientBase | pg.Pool,
  text: string,
  parameters: readonly unknown[],
): Promise<StatementResult> {
  try {
    const { rows, rowCount, command } = await (on as pg.ClientBase).query<Record<string, unknown>>(
      text,
      parameters.map(storable),
    );
    return counted.has(command) ? { rows, changed: rowCount ?? 0 } : { rows };
  } catch (error) {
    throw recordsError(error);
  }
}

/**
 * Strings of PostgreSQL hold no NUL. Requests with one are refused before; what devices and scripts
 * send into a log has the replacement character instead.
 */
function storable(value: unknown): unknown {
  if (typeof value !== 'string' || !value.includes('\0')) return value;
  return value.replaceAll('\0', '\u{fffd}');
}

/**
 * Opens the database, which must exist, and brings it to this version. Throws DataFolderError for a
 * server that cannot be used.
 */
export function postgresEngine(server: PostgresServer): OpenEngine {
  return async ({ published, migrating }) => {
    const listChanges = new ListChanges();
    const connection = openPostgresConnection(server, listChanges, published);
    const nullable = new Set<string>();
    const { revisionOf, listsChanged } = listChanges;
    const kyselyParts = postgresSql(nullable, server.node);
    return openLanes({ connection, kyselyParts, revisionOf, listsChanged }, async (db) => {
      await refuseOtherServers(db, server);
      await migrate(db, { migrating });
      // Nodes that start together make them in turn.
      await transaction(db, (step) => addListTriggers(step.db));
      if (!server.isShared) await renumberRestored(db);
      for (const name of await nullableColumns(db)) nullable.add(name);
      await connection.limitStatements();
    });
  };
}

async function refuseOtherServers(
  db: Kysely<RecordTables>,
  { url }: PostgresServer,
): Promise<void> {
  const { rows } = await sql<{ version: string; encoding: string }>`
    select current_setting('server_version_num') as "version",
      current_setting('server_encoding') as "encoding"`.execute(db);
  const [{ version, encoding } = { version: '', encoding: '' }] = rows;
  if (Number(version) < versionMin)
    throw new DataFolderError(
      `${placeOf(url)} has version ${Math.floor(Number(version) / 10_000)}: the records need PostgreSQL 15 or newer`,
    );
  if (encoding !== 'UTF8')
    throw new DataFolderError(
      `${placeOf(url)} has the encoding ${encoding}: create the database with ENCODING 'UTF8'`,
    );
}

/**
 * A restored database can hold transactions that its new server has not reached, which would never
 * be below the horizon.
 */
async function renumberRestored(db: Kysely<RecordTables>): Promise<void> {
  for (const table of ['deliveries', 'ruleTriggers'] as const)
    await sql`
      update ${sql.table(table)} set "xid" = pg_current_xact_id()
      where "xid" > pg_current_xact_id()`.execute(db);
}

async function nullableColumns(db: Kysely<RecordTables>): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct "column_name" as "name" from "information_schema"."columns"
    where "table_schema" = current_schema() and "is_nullable" = 'YES'`.execute(db);
  return rows.map(({ name }) => name);
}

// List triggers of PostgreSQL: they name the organizations whose lists a statement changed.

/** The event, and the rows of it that its statement changed. */
const events = { insert: 'new', update: 'new', delete: 'old' } as const;

/**
 * Makes the triggers where they are missing. Their messages come before the answer of the statement,
 * in the same session, and are not written to the log of the server.
 */
async function addListTriggers(db: RecordsDb): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select "tgname" as "name" from "pg_catalog"."pg_trigger" where "tgname" like '%ListChanged'`.execute(
    db,
  );
  const names = new Set(rows.map(({ name }) => name));
  for (const [table, organization] of Object.entries(organizationOf))
    for (const [event, of] of Object.entries(events)) {
      const name = `${table}${event}ListChanged`;
      if (names.has(name)) continue;
      for (const statement of triggerOf({ name, table, event, of, organization }))
        await statement.execute(db);
    }
}

function* triggerOf({
  name,
  table,
  event,
  of,
  organization,
}: {
  readonly name: string;
  readonly table: string;
  readonly event: string;
  readonly of: 'new' | 'old';
  readonly organization: (row: string) => string;
}): Iterable<RawBuilder<unknown>> {
  const named = sql.id(name);
  yield sql`
    create or replace function ${named}() returns trigger language plpgsql as $body$
    declare changed_organization text;
    begin
      for changed_organization in select distinct ${sql.raw(organization('"changed"'))} from "changed" loop
        if changed_organization is not null then
          raise notice using errcode = ${sql.lit(listChangedCode)}, message = changed_organization;
        end if;
      end loop;
      return null;
    end $body$`;
  yield sql`
    create trigger ${named} after ${sql.raw(event)} on ${sql.table(table)}
    referencing ${sql.raw(of)} table as "changed"
    for each statement execute function ${named}()`;
}

// SQL of PostgreSQL for Kysely, with the types, the order of strings and the place of nulls that SQLite has.

/** Integers have 64 bits and numbers 53 of mantissa; strings are compared by their bytes. */
const columnTypes: Readonly<Record<string, string>> = {
  integer: 'bigint',
  real: 'double precision',
  text: 'text collate "C"',
};

/**
 * Columns that may be null and by which lists are read in order: their indexes begin with nulls, as
 * those of SQLite do.
 */
const nullsInIndexes = new Set([
  'clearAt',
  'escalateAt',
  'remindAt',
  'clearedAt',
  'dueAt',
  'nextExecution',
  'batteryLevel',
  'onlineUntil',
]);

class RecordsQueryCompiler extends PostgresQueryCompiler {
  readonly #nullable: ReadonlySet<string>;

  constructor(nullable: ReadonlySet<string>) {
    super();
    this.#nullable = nullable;
  }

  protected override getAutoIncrement(): string {
    return 'generated by default as identity';
  }

  protected override visitDataType(node: DataTypeNode): void {
    const isColumn = this.parentNode !== undefined && ColumnDefinitionNode.is(this.parentNode);
    const type = isColumn ? columnTypes[node.dataType] : undefined;
    if (type === undefined) super.visitDataType(node);
    else this.append(type);
  }

  protected override visitCreateIndex(node: CreateIndexNode): void {
    const columns = node.columns?.map((column) => {
      const name = columnOf(column);
      return name !== undefined && nullsInIndexes.has(name)
        ? RawNode.createWithSql(`"${name}" nulls first`)
        : column;
    });
    super.visitCreateIndex(columns === undefined ? node : { ...node, columns });
  }

  /** Null is less than every value, as in SQLite. */
  protected override visitOrderByItem(node: OrderByItemNode): void {
    if (node.nulls !== undefined || this.#isNeverNull(node.orderBy))
      return super.visitOrderByItem(node);
    const { direction } = node;
    const isDescending =
      direction !== undefined && RawNode.is(direction) && direction.sqlFragments[0] === 'desc';
    super.visitOrderByItem({ ...node, nulls: isDescending ? 'last' : 'first' });
  }

  #isNeverNull(node: OperationNode): boolean {
    const name = columnOf(node);
    return name !== undefined && !this.#nullable.has(name);
  }
}

/** The name of the column that the node is; undefined for an expression. */
function columnOf(node: OperationNode): string | undefined {
  if (ReferenceNode.is(node)) return columnOf(node.column);
  if (ColumnNode.is(node)) return node.column.name;
  if (!RawNode.is(node)) return undefined;
  const [only, ...others] = node.parameters;
  const isAll = node.sqlFragments.every((fragment) => fragment === '');
  return only !== undefined && others.length === 0 && isAll ? columnOf(only) : undefined;
}

/**
 * `nullable` are the names of columns that may be null in a table; `node` is the id of a node that
 * shares the database.
 */
function postgresSql(nullable: ReadonlySet<string>, node: string | undefined): KyselyParts {
  return {
    createQueryCompiler: () => new RecordsQueryCompiler(nullable),
    createAdapter: () => (node === undefined ? new PostgresAdapter() : new NodeAdapter(node)),
    createIntrospector: (db) => new PostgresIntrospector(db),
  };
}

// The writing session, opened again when it is lost, and the turns of writers on several nodes.

const writerPollMs = 100;

/** The SQLSTATE of the messages of triggers. */
const listChangedCode = 'HG001';

class Writer {
  readonly #server: PostgresServer;
  readonly #events: {
    /** A message of a trigger, with the organization whose lists changed. */
    readonly changed: (organizationId: string) => void;
    /** Called after a lost session was replaced: what it had begun has ended. */
    readonly replaced: () => void;
  };
  #current: Promise<pg.Client> | undefined;
  #hadSession = false;
  #isHurried = false;
  #isClosed = false;
  #timeoutMs = 0;
  readonly #waitMsMax: number;

  constructor(
    server: PostgresServer,
    events: {
      /** A message of a trigger, with the organization whose lists changed. */
      readonly changed: (organizationId: string) => void;
      /** Called after a lost session was replaced: what it had begun has ended. */
      readonly replaced: () => void;
    },
  ) {
    this.#server = server;
    this.#events = events;
    const { waitMsMax = postgresLimits.waitMsMax } = server;
    this.#waitMsMax = waitMsMax;
  }

  async #connect(): Promise<pg.Client> {
    const waits = this.#server.node === undefined ? {} : { lock_timeout: this.#waitMsMax };
    const client = new pg.Client({ ...sessionOf(this.#server.url, this.#timeoutMs), ...waits });
    client.on('notice', ({ code, message }) => {
      if (code === listChangedCode && message !== undefined) this.#events.changed(message);
    });
    await client.connect();
    try {
      if (!this.#server.isShared)
        await lockOut(
          client,
          writerLockQuery(this.#server),
          (ms) => this.#isHurried || ms >= this.#waitMsMax,
        );
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    if (this.#hadSession) this.#events.replaced();
    this.#hadSession = true;
    return client;
  }

  #forget(made: Promise<pg.Client>): void {
    if (this.#current === made) this.#current = undefined;
  }

  /** The session; connects when it is needed. Throws problems. */
  async session(): Promise<pg.Client> {
    if (this.#isClosed) throw problem('recordsUnreachable');
    if (this.#current === undefined) {
      const made = this.#connect();
      this.#current = made;
      made.then(
        (client) => {
          for (const event of ['error', 'end'] as const) client.on(event, () => this.#forget(made));
        },
        () => this.#forget(made),
      );
    }
    try {
      return await this.#current;
    } catch (error) {
      throw recordsError(error);
    }
  }

  /** Ends sessions that wait, and gives statements this long from now on; 0 is no limit. */
  async limitStatements(ms: number): Promise<void> {
    this.#timeoutMs = ms;
    await (await this.session()).query(`set statement_timeout = ${ms}`);
  }

  readonly hurry = (): void => {
    this.#isHurried = true;
  };

  async close(): Promise<void> {
    this.#isClosed = true;
    const made = this.#current;
    this.#current = undefined;
    await (await made?.catch(() => undefined))?.end().catch(() => undefined);
  }
}

/**
 * Waits until no other session writes: after a lost connection the server may need a moment to
 * notice. Throws `recordsBusy`.
 */
async function lockOut(
  client: pg.Client,
  query: string,
  isOver: (waitedMs: number) => boolean,
): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += writerPollMs) {
    const { rows } = await client.query<{ locked: boolean }>(query);
    if (rows[0]?.locked === true) return;
    if (isOver(waitedMs)) throw problem('recordsBusy');
    await delay(writerPollMs);
  }
}

// Turns of writers: a single program, or nodes of which one at a time has a transaction open.

/** Held by all that write the records of a database, as long as they run: "heliograph" in ASCII. */
const writerLock = '7522543253236707438';
/** Held by the transaction of the node whose turn it is. */
const turnLock = '7522543253236707439';

/** Asks for the lock of writers; the answer is in `locked`. Nodes share it, others do not. */
export function writerLockQuery({ node }: PostgresServer): string {
  const form = node === undefined ? '' : '_shared';
  return `select pg_try_advisory_lock${form}(${writerLock}) as "locked"`;
}

/**
 * Begins a transaction; on a node, in its turn. The statements after it see what was committed
 * before the turn began, which is why the lock is not a part of the first of them.
 */
function beginQuery({ node }: PostgresServer): string {
  return node === undefined
    ? 'begin'
    : `begin isolation level read committed; select pg_advisory_xact_lock(${turnLock})`;
}

/** Changes in one row: others read whole rows. */
const changesPerRow = 500;

/**
 * The statements that publish what a transaction changed, for the message that commits; `lists` are
 * organizations whose device lists changed.
 */
function newsQueries(
  node: string,
  changes: readonly RecordChange[],
  lists: readonly string[],
): readonly string[] {
  const rows: string[] = [];
  for (let from = 0; from < changes.length || (from === 0 && lists.length > 0); ) {
    const some = changes.slice(from, from + changesPerRow);
    const own = from === 0 ? lists : [];
    rows.push(
      `(${[node, JSON.stringify(some), JSON.stringify(own)].map(escapeLiteral).join(', ')})`,
    );
    from += changesPerRow;
  }
  if (rows.length === 0) return [];
  return [`insert into "recordChanges" ("node", "changes", "lists") values ${rows.join(', ')}`];
}
