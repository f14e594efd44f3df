// SQL sessions: one guarded connection to PostgreSQL, MariaDB or MySQL, which runs one statement after the other.
import type { Socket } from 'node:net';
import { createConnection } from 'mariadb';
import pg from 'pg';
import type { EgressGuard } from '../../egress/guard.ts';
import { guardedSocket, tlsMaterial } from '../guarded-socket.ts';
import type { SqlAddress, SqlProperties } from './sql-properties.ts';
import type { SqlValue } from './sql-row.ts';

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

export const openPostgresql: OpenSession = async (
  { properties, address, egress },
  lost,
  signal,
) => {
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

export const openMariadb: OpenSession = async ({ properties, address, egress }, lost, signal) => {
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
