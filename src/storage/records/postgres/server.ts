// PostgreSQL server of the records: its address, and what every session of this program sets.
import pg from 'pg';

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
