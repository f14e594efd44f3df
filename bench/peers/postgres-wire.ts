// PostgreSQL client, minimal: protocol 3, trust authentication, strings as results. A package would serve benches only.
import { type Socket, connect } from 'node:net';

export type Row = readonly (string | null)[];

export interface PostgresConnection {
  /**
   * Sends frames that end in one ReadyForQuery; answers all rows in between. Only one at a time.
   */
  exchange(frames: Buffer): Promise<Row[]>;
  close(): void;
}

const terminate = Buffer.from([0x58, 0, 0, 0, 4]);
const protocolVersion = 196_608;

export function openPostgres(
  port: number,
  user: string,
  database: string,
): Promise<PostgresConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      const connection = overSocket(socket);
      const parameters = `user\0${user}\0database\0${database}\0\0`;
      const startup = Buffer.alloc(8 + parameters.length);
      startup.writeInt32BE(startup.length, 0);
      startup.writeInt32BE(protocolVersion, 4);
      startup.write(parameters, 8);
      connection.exchange(startup).then(() => resolve(connection), reject);
    });
  });
}

function overSocket(socket: Socket): PostgresConnection {
  let waiting: { resolve(rows: Row[]): void; reject(error: Error): void } | undefined;
  let received: Buffer = Buffer.alloc(0);
  let rows: Row[] = [];
  let refusal: Error | undefined;
  const finish = (error: Error | undefined): void => {
    const asker = waiting;
    const answer = rows;
    waiting = undefined;
    rows = [];
    refusal = undefined;
    if (error === undefined) asker?.resolve(answer);
    else asker?.reject(error);
  };
  const take = (kind: string, body: Buffer): void => {
    if (kind === 'D') rows.push(rowOf(body));
    else if (kind === 'E') refusal = new Error(errorText(body));
    else if (kind === 'Z') finish(refusal);
    else if (kind === 'R' && body.readInt32BE(0) !== 0)
      finish(new Error('the server wants a password'));
  };
  socket.on('error', finish);
  socket.on('close', () => finish(refusal ?? new Error('the server closed the connection')));
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    let at = 0;
    while (received.length >= at + 5) {
      const end = at + 1 + received.readInt32BE(at + 1);
      if (received.length < end) break;
      take(String.fromCharCode(received[at]!), received.subarray(at + 5, end));
      at = end;
    }
    received = received.subarray(at);
  });
  return {
    exchange(frames) {
      return new Promise((resolve, reject) => {
        if (waiting !== undefined || socket.destroyed)
          return reject(new Error('the connection is not free'));
        waiting = { resolve, reject };
        socket.write(frames);
      });
    },
    close() {
      socket.end(terminate);
    },
  };
}

/** A simple query; several statements may be joined by semicolons. */
export function queryFrame(sql: string): Buffer {
  return frame('Q', Buffer.from(`${sql}\0`));
}

/** Names a prepared statement. */
export function prepareFrames(name: string, sql: string): Buffer {
  return Buffer.concat([frame('P', Buffer.from(`${name}\0${sql}\0\0\0`)), frame('S')]);
}

/** Runs a prepared statement with parameters as strings. */
export function runFrames(name: string, parameters: readonly string[]): Buffer {
  const count = Buffer.alloc(2);
  count.writeInt16BE(parameters.length);
  const values = parameters.flatMap((text) => {
    const bytes = Buffer.from(text);
    const length = Buffer.alloc(4);
    length.writeInt32BE(bytes.length);
    return [length, bytes];
  });
  // Without formats of parameters and results, all values are strings.
  const bind = Buffer.concat([
    Buffer.from(`\0${name}\0`),
    Buffer.alloc(2),
    count,
    ...values,
    Buffer.alloc(2),
  ]);
  return Buffer.concat([frame('B', bind), frame('E', Buffer.alloc(5)), frame('S')]);
}

/** COPY ... FROM STDIN with all rows in one write; the server reads them when it is ready. */
export function copyFrames(sql: string, rows: string): Buffer {
  return Buffer.concat([queryFrame(sql), frame('d', Buffer.from(rows)), frame('c')]);
}

function frame(kind: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const bytes = Buffer.alloc(5 + body.length);
  bytes.write(kind, 0, 'latin1');
  bytes.writeInt32BE(4 + body.length, 1);
  body.copy(bytes, 5);
  return bytes;
}

function rowOf(body: Buffer): Row {
  const count = body.readInt16BE(0);
  const row: (string | null)[] = [];
  let at = 2;
  for (let i = 0; i < count; i++) {
    const length = body.readInt32BE(at);
    at += 4;
    row.push(length < 0 ? null : body.toString('utf8', at, at + length));
    if (length > 0) at += length;
  }
  return row;
}

function errorText(body: Buffer): string {
  return body
    .toString()
    .split('\0')
    .filter((field) => field[0] === 'M' || field[0] === 'C')
    .map((field) => field.slice(1))
    .join(' ');
}
