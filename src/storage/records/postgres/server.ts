// PostgreSQL server of the records: its address, sessions of this program, and its errors as problems of the catalog.
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { problem, Problem } from '../../../model/problem.ts';
import { DataFolderError } from '../../data-folder/data-folder.ts';
import {
  type CheckRecords,
  checkRecordsAt,
  findingsMax,
  type RecordsFindings,
  type RecordsProbe,
} from '../records-check.ts';

export interface PostgresServer {
  /** `postgres://user:password@host/database`, with the parameters of libpq. */
  readonly url: string;
  /**
   * Whether other programs may write to the records too. The platform is the only one: it keeps
   * what it read in memory.
   */
  readonly isShared?: boolean | undefined;
  /**
   * The id of this node where several write to the records: they take turns, and publish what they
   * change for each other.
   */
  readonly node?: string | undefined;
  /** How long to wait for another writer at most. */
  readonly waitMsMax?: number | undefined;
}

export const postgresLimits = {
  /** Sessions that read; one more writes. */
  readersMax: 8,
  /** Sessions of them for slow queries. */
  elsewhereMax: 3,
  connectMsMax: 5_000,
  /** A read that takes longer is ended. */
  readMsMax: 60_000,
  /** A statement of a writer that takes longer is ended; migrations have no limit. */
  writeMsMax: 60_000,
  /** The server ends a transaction that stays without a statement for longer. */
  idleInTransactionMsMax: 10_000,
  /** How long a start waits for a server that does not answer yet. */
  startMsMax: 30_000,
  /**
   * How long a start, a reconnection, or a transaction whose turn does not come waits for another
   * writer: longer than the server keeps the transaction of a node that has stopped.
   */
  waitMsMax: 15_000,
} as const;

/** The oldest version that is tried: 15. */
export const versionMin = 150_000;

/** Host, port and database, without user and password: for messages. */
export function placeOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = hostname || searchParams.get('host') || 'localhost';
  return `PostgreSQL ${host}:${port || searchParams.get('port') || '5432'}${pathname}`;
}

/** Sums and counts are exact numbers in JavaScript up to 2^53, which no counter here reaches. */
const types = new pg.TypeOverrides();
for (const type of [pg.types.builtins.INT8, pg.types.builtins.NUMERIC])
  types.setTypeParser(type, Number);

/** What a session of this program sets. */
export function sessionOf(url: string, timeoutMs: number): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: 'heliograph',
    connectionTimeoutMillis: postgresLimits.connectMsMax,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    statement_timeout: timeoutMs,
    idle_in_transaction_session_timeout: postgresLimits.idleInTransactionMsMax,
    types,
  };
}

// Own session: a session of PostgreSQL for one part, which the statements of others never delay.

export interface OwnSession {
  /** Rows of one statement. Rejects with problems, and when the answer is late. */
  query(text: string, values: readonly unknown[]): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

/** Connects. `timeoutMs` limits each statement, by the server and by the wait for its answer. */
export async function openOwnSession(url: string, timeoutMs: number): Promise<OwnSession> {
  const client = new pg.Client(sessionOf(url, timeoutMs));
  // A session that is lost while it is idle is found by its next statement.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    throw recordsError(error);
  }
  return {
    async query(text, values) {
      try {
        const answer = client.query<Record<string, unknown>>(text, [...values]);
        const { rows } = await inTime(answer, timeoutMs);
        return rows;
      } catch (error) {
        throw recordsError(error);
      }
    },
    // An answer that never comes must not keep the caller waiting.
    close: async () => client.end(),
  };
}

/**
 * Rejects when the answer is late. The limit of `pg` also refuses an answer that has come while this
 * process stood still, because timers run before sockets are read.
 */
function inTime<T>(answer: Promise<T>, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const refuse = (): void => reject(new Error('Query read timeout'));
    const timer = setTimeout(() => setImmediate(refuse), timeoutMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

// Errors of PostgreSQL and of its connections as problems of the catalog.

type Translate = (reason: string) => Problem;

/** Without the reason: addresses of the operator's network are not for clients. */
const unreachable: Translate = () => problem('recordsUnreachable');
const busy: Translate = () => problem('recordsBusy');
const failed: Translate = (reason) => problem('recordsFailed', { reason });

/** By SQLSTATE, or its class of two characters. */
const bySqlState: Readonly<Record<string, Translate>> = {
  '53100': () => problem('storageFull'),
  // Classes: connection exception, insufficient resources, and operator intervention.
  '08': unreachable,
  '53': unreachable,
  '57P': unreachable,
  // A statement or a wait for a lock took too long, or two transactions met.
  '57014': busy,
  '55P03': busy,
  '25P03': busy,
  '40001': busy,
  '40P01': busy,
  // A standby, or a server that must not be written.
  '25006': unreachable,
  // System error and damaged data.
  '58': failed,
  XX001: failed,
  XX002: failed,
};

/** Errors of sockets, and those of the client library, which have no code. */
const lostCodes = new Set<unknown>([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOENT',
  'EHOSTDOWN',
]);
/** Of these, those that end a connection. */
const endedCodes = new Set<unknown>(['ECONNRESET', 'EPIPE']);
const lostMessage =
  /^(?:Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|timeout expired|Query read timeout)/;

/** Whether the connection is gone, so that the outcome of a running statement is unknown. */
export function isLost(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isLost);
  if (!(error instanceof Error)) return false;
  const { code } = error as Error & { readonly code?: unknown };
  return (
    lostCodes.has(code) || lostMessage.test(error.message) || translatorOf(code) === unreachable
  );
}

/** Errors of sockets of which no connection came into being. */
const unconnectedCodes = new Set<unknown>([...lostCodes].filter((code) => !endedCodes.has(code)));
const unconnectedMessage = /^(?:timeout expired|Connection terminated due to connection timeout)/;

/** Whether the server takes no connections; the error may be a problem of `recordsError`. */
export function isUnconnected(error: unknown): boolean {
  if (error instanceof Problem) return isUnconnected(error.cause);
  if (error instanceof AggregateError) return error.errors.some(isUnconnected);
  if (!(error instanceof Error)) return false;
  const { code } = error as Error & { readonly code?: unknown };
  return unconnectedCodes.has(code) || unconnectedMessage.test(error.message);
}

/**
 * `storageFull` (507), `recordsUnreachable`, `recordsFailed` or `recordsBusy` (503) with the error
 * as their cause; any other error as it is.
 */
export function recordsError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Problem) return error;
  const { code } = error as Error & { readonly code?: unknown };
  const translate = isLost(error) ? unreachable : translatorOf(code);
  if (translate === undefined) return error;
  return Object.assign(translate(reasonOf(error)), { cause: error });
}

function translatorOf(code: unknown): Translate | undefined {
  if (typeof code !== 'string' || code.length !== 5) return undefined;
  return bySqlState[code] ?? bySqlState[code.slice(0, 3)] ?? bySqlState[code.slice(0, 2)];
}

/** Several addresses of a host fail with an error each, and no words for all. */
function reasonOf(error: Error): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error)
    return error.errors[0].message;
  return error.message;
}

// Verification of the records in PostgreSQL, before they are opened and row by row; it changes nothing.

/** `refusal` is why a start would refuse the records. The server itself checks its pages. */
export async function verifyPostgres(
  server: PostgresServer,
  refusal: string | undefined,
): Promise<RecordsFindings> {
  const damage: string[] = refusal === undefined ? [] : [refusal];
  const client = await connected(server);
  try {
    // A whole table takes longer than a statement of a request.
    await client.query('set statement_timeout = 0');
    if ((await settingOf(client, 'data_checksums')) !== 'on')
      damage.push(
        'The cluster has no data checksums, so damaged pages stay unnoticed: stop it and run pg_checksums --enable',
      );
    for (const table of await tablesOf(client)) damage.push(...(await damageOf(client, table)));
    damage.push(...(await brokenReferences(client)));
  } finally {
    await client.end().catch(() => undefined);
  }
  return { path: placeOf(server.url), damage: damage.slice(0, findingsMax) };
}

async function settingOf(client: pg.Client, name: string): Promise<string | undefined> {
  const { rows } = await client.query<{ value: string }>('select current_setting($1) as "value"', [
    name,
  ]);
  return rows[0]?.value;
}

async function tablesOf(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident("tablename") as "name" from "pg_catalog"."pg_tables"
     where "schemaname" = current_schema() order by "tablename"`,
  );
  return rows.map(({ name }) => name);
}

/** Reads every column of every row; the server reports what it cannot read. */
async function damageOf(client: pg.Client, table: string): Promise<readonly string[]> {
  try {
    await client.query(`select count(r::text) from ${table} as r`);
    return [];
  } catch (error) {
    return [`${table}: ${(error as Error).message}`];
  }
}

/** Rows that name a row which is not there, as after a restore of single tables. */
async function brokenReferences(client: pg.Client): Promise<readonly string[]> {
  const { rows: keys } = await client.query<{
    readonly name: string;
    readonly child: string;
    readonly parent: string;
    readonly childColumn: string;
    readonly parentColumn: string;
  }>(
    `select c.conname as "name", c.conrelid::regclass::text as "child",
       c.confrelid::regclass::text as "parent",
       quote_ident(a.attname) as "childColumn", quote_ident(b.attname) as "parentColumn"
     from pg_constraint c
     join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
     join pg_attribute b on b.attrelid = c.confrelid and b.attnum = c.confkey[1]
     where c.contype = 'f' and cardinality(c.conkey) = 1
       and c.connamespace = current_schema()::regnamespace`,
  );
  const damage: string[] = [];
  for (const { child, parent, childColumn, parentColumn } of keys) {
    const { rows } = await client.query<{ count: number }>(
      `select count(*) as "count" from ${child} as c where ${childColumn} is not null
       and not exists (select 1 from ${parent} as p where p.${parentColumn} = c.${childColumn})`,
    );
    const count = rows[0]?.count ?? 0;
    if (count > 0) damage.push(`${child}: ${count} rows name a row of ${parent} that is missing`);
  }
  return damage;
}

// Check of the records in PostgreSQL before they are opened, at every start and by `verify`.

const retryMs = 500;

/** Throws DataFolderError when the server does not answer. */
export function checkPostgres(server: PostgresServer): CheckRecords {
  const path = placeOf(server.url);
  const fromBackup = `Restore the database from its backup, or set DATA_DIR to an empty folder`;
  return async (check) => {
    const client = await connected(server);
    try {
      const probe = async () => probeOf(client);
      return await checkRecordsAt({ path, fromBackup, probe }, check);
    } finally {
      await client.end().catch(() => undefined);
    }
  };
}

/** A session that only reads; waits for a server that is about to start. */
async function connected({ url }: PostgresServer): Promise<pg.Client> {
  const startedAt = performance.now();
  for (;;) {
    const client = new pg.Client({
      ...sessionOf(url, postgresLimits.readMsMax),
      options: '-c default_transaction_read_only=on',
    });
    try {
      await client.connect();
      client.on('error', () => undefined);
      return client;
    } catch (error) {
      const isOver = performance.now() - startedAt > postgresLimits.startMsMax;
      if (!isLost(error) || isOver)
        throw new DataFolderError(
          `Cannot use RECORDS_URL: ${placeOf(url)}: ${(error as Error).message || String((error as { code?: unknown }).code)}`,
        );
    }
    await delay(retryMs);
  }
}

function probeOf(client: pg.Client): RecordsProbe {
  return {
    rows: async (query) => (await client.query<Record<string, unknown>>(query)).rows,
    hasTable: async (name) => {
      const { rows } = await client.query<{ found: unknown }>(
        `select to_regclass(quote_ident($1)) as "found"`,
        [name],
      );
      return rows[0]?.found !== null;
    },
    close: async () => undefined,
  };
}
