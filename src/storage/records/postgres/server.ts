// PostgreSQL server of the records: its address, sessions of this program, and its errors as problems of the catalog.
import pg from 'pg';
import { Problem, problem } from '../../../model/problem.ts';

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
