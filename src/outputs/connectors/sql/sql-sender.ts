// Sender to SQL databases: one row per delivery. Delivered once it is committed.
import type { Socket } from 'node:net';
import { createConnection } from 'mariadb';
import pg from 'pg';
import type { EgressGuard } from '../../egress/guard.ts';
import { attempt } from '../send-failure.ts';
import { type ConnectionKind, SharedConnection } from '../shared-connection.ts';
import type { Target } from '../target.ts';
import {
  sqlAddress,
  type SqlAddress,
  type SqlDialectName,
  type SqlProperties,
} from './sql-properties.ts';
import {
  insertStatement,
  mariadbDialect,
  postgresqlDialect,
  rowOf,
  type SqlDialect,
  type SqlValue,
} from './sql-row.ts';
import { guardedSocket, tlsMaterial } from '../guarded-socket.ts';

// SQL sessions: one guarded connection to PostgreSQL, MariaDB or MySQL, which runs one statement after the other.

const applicationName = 'heliograph';

export interface SqlSession {
  /**
   * Runs a statement and resolves with the number of rows it wrote. Call it again only after that.
   */
  run(statement: string, values: readonly SqlValue[]): Promise<number>;
  close(): Promise<void>;
  destroy(): void;
}

interface SqlTarget {
  readonly properties: SqlProperties;
  readonly address: SqlAddress;
  readonly egress: EgressGuard;
}

/** Opens a session; see `ConnectionKind.open` for `lost` and `signal`. */
export type OpenSession = (
  target: SqlTarget,
  lost: (reason: Error) => void,
  signal: AbortSignal,
) => Promise<SqlSession>;

/**
 * The clients expect to connect themselves, so the connected socket reports a connection once more.
 */
function connectedSocket(socket: Socket): Socket {
  socket.connect = () => {
    process.nextTick(() => socket.emit('connect'));
    return socket;
  };
  return socket;
}

function tlsOf(properties: SqlProperties, host: string) {
  return properties.tls === 'REQUIRED' && { ...tlsMaterial(properties, host) };
}

const openPostgresql: OpenSession = async ({ properties, address, egress }, lost, signal) => {
  const { host, port, database } = address;
  const socket = await guardedSocket(egress, address, undefined, signal);
  signal.addEventListener('abort', () => void socket.destroy(), { once: true });
  const client = new pg.Client({
    host,
    port,
    database,
    // The client would read absent ones from the environment of the platform.
    user: properties.username ?? '',
    password: properties.password ?? '',
    ssl: tlsOf(properties, host),
    stream: () => connectedSocket(socket),
    application_name: applicationName,
  });
  client.on('error', lost);
  client.on('end', () => lost(new Error('the server closed the connection')));
  await client.connect();
  return {
    run: async (text, values) => (await client.query({ text, values: [...values] })).rowCount ?? 0,
    close: () => client.end(),
    destroy: () => void socket.destroy(),
  };
};

const openMariadb: OpenSession = async ({ properties, address, egress }, lost, signal) => {
  const { host, port, database } = address;
  const socket = await guardedSocket(egress, address, undefined, signal);
  signal.addEventListener('abort', () => void socket.destroy(), { once: true });
  const connection = await createConnection({
    host,
    port,
    database,
    user: properties.username ?? '',
    password: properties.password ?? '',
    ssl: tlsOf(properties, host),
    stream: () => {
      process.nextTick(() => socket.emit('connect'));
      return socket;
    },
    initSql: "SET time_zone = '+00:00'",
    // Rows that existed before are not counted.
    foundRows: false,
    permitLocalInfile: false,
    multipleStatements: false,
    // The message of an error would otherwise repeat the values.
    logParam: false,
  });
  connection.on('error', lost);
  connection.on('end', () => lost(new Error('the server closed the connection')));
  return {
    run: async (statement, values) =>
      (await connection.execute(statement, [...values])).affectedRows,
    close: () => connection.end(),
    // The client's own `destroy` would open a second connection to end the running statement.
    destroy: () => void socket.destroy(),
  };
};

const systems: Readonly<
  Record<SqlDialectName, { readonly dialect: SqlDialect; readonly open: OpenSession }>
> = {
  postgresql: { dialect: postgresqlDialect, open: openPostgresql },
  mariadb: { dialect: mariadbDialect, open: openMariadb },
  mysql: { dialect: mariadbDialect, open: openMariadb },
};

/**
 * Classes of SQL states that a retry would receive again: the data, its integrity, the credentials,
 * the database, the schema, the statement. Everything else is temporary, such as lost connections,
 * locks and missing resources.
 */
const permanentClasses = new Set(['0A', '21', '22', '23', '28', '3D', '3F', '42', '44']);

/**
 * Of MariaDB: column without a default value, value out of range, truncated or of another type.
 * Their class is not specific.
 */
const permanentNumbers = new Set([1264, 1265, 1364, 1366, 1406]);
/** Of MariaDB: too many connections of a user, which has the class of a rejected statement. */
const temporaryNumbers = new Set([1203, 1226]);

export function createSqlTarget(properties: SqlProperties, egress: EgressGuard): Target {
  const address = sqlAddress(properties.jdbcUrl);
  if (address === undefined) throw new Error('The stored JDBC URL is not valid');
  const { dialect, open } = systems[address.dialect];
  const statement = insertStatement(dialect, properties);
  const target = { properties, address, egress };
  const connection = new SharedConnection(
    sessionKind((lost, signal) => open(target, lost, signal)),
  );
  return {
    send: (message, signal) =>
      attempt(
        signal,
        async () => {
          const values = rowOf(dialect, properties.columns, message);
          const written = await connection.use(signal, (run) => run.next(statement, values));
          return written === 0 ? 'the row already exists' : 'committed 1 row';
        },
        isPermanent,
      ),
    close: () => connection.close(),
  };
}

function isPermanent(error: unknown): boolean {
  const { code, errno, sqlState } = error as {
    code?: unknown;
    errno?: unknown;
    sqlState?: unknown;
  };
  if (typeof errno === 'number' && temporaryNumbers.has(errno)) return false;
  if (typeof errno === 'number' && permanentNumbers.has(errno)) return true;
  const state = typeof sqlState === 'string' ? sqlState : code;
  return typeof state === 'string' && state.length === 5 && permanentClasses.has(state.slice(0, 2));
}

/** A session that runs its statements one after the other. */
interface OrderedSession {
  readonly session: SqlSession;
  next(statement: string, values: readonly SqlValue[]): Promise<number>;
}

function sessionKind(
  open: (lost: (reason: Error) => void, signal: AbortSignal) => Promise<SqlSession>,
): ConnectionKind<OrderedSession> {
  return {
    async open(lost, signal) {
      const session = await open(lost, signal);
      let last: Promise<unknown> = Promise.resolve();
      return {
        session,
        next(statement, values) {
          const result = last.then(() => session.run(statement, values));
          last = result.catch(() => undefined);
          return result;
        },
      };
    },
    close: ({ session }) => session.close(),
    destroy: ({ session }) => session.destroy(),
  };
}
