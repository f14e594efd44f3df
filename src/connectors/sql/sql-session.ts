// Sessions with PostgreSQL and with MariaDB or MySQL: one guarded connection that runs one statement after the other.
import type { Socket } from 'node:net';
import type { EgressGuard } from '../../egress/guard.ts';
import type { SqlAddress } from '../target-address.ts';
import type { SqlProperties } from '../../model/target-properties.ts';
import { guardedSocket, tlsMaterial } from '../guarded-socket.ts';
import type { SqlValue } from './sql-row.ts';

const applicationName = 'heliograph';

export interface SqlSession {
  /** Runs a statement; answers the number of rows it wrote. Not while another one runs. */
  run(statement: string, values: readonly SqlValue[]): Promise<number>;
  close(): Promise<void>;
  abandon(): void;
}

export type OpenSession = (
  properties: SqlProperties,
  address: SqlAddress,
  egress: EgressGuard,
  lost: (reason: Error) => void,
  signal: AbortSignal,
) => Promise<SqlSession>;

/** The clients want to connect by themselves; they are given a connected socket that says it was connected just now. */
function connectedSocket(socket: Socket): Socket {
  socket.connect = () => {
    process.nextTick(() => socket.emit('connect'));
    return socket;
  };
  return socket;
}

function tlsOf(properties: SqlProperties, host: string) {
  return properties.tls === 'OFF' ? false : { ...tlsMaterial(properties, host) };
}

export const openPostgresql: OpenSession = async (properties, address, egress, lost, signal) => {
  const { default: pg } = await import('pg');
  const { host, port, database } = address;
  const socket = await guardedSocket(egress, address, undefined, signal);
  signal.addEventListener('abort', () => void socket.destroy(), { once: true });
  const client = new pg.Client({
    host,
    port,
    database,
    // Absent ones would be taken from the environment of the platform.
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
    abandon: () => void socket.destroy(),
  };
};

export const openMariadb: OpenSession = async (properties, address, egress, lost, signal) => {
  const { createConnection } = await import('mariadb');
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
    // Rows that were there already are not counted.
    foundRows: false,
    permitLocalInfile: false,
    multipleStatements: false,
    // The text of an error would otherwise repeat the values.
    logParam: false,
  });
  connection.on('error', lost);
  connection.on('end', () => lost(new Error('the server closed the connection')));
  return {
    run: async (statement, values) =>
      (await connection.execute(statement, [...values])).affectedRows,
    close: () => connection.end(),
    // The client's own way to destroy a connection would open another one to end this one's statement.
    abandon: () => void socket.destroy(),
  };
};
