// A load generator for HTTP/1.1 over plain sockets: one request in flight per connection, kept alive.
// Ready-made clients cost more than some of the servers measured here, so this one only frames
// requests and finds the ends of answers.
import { type Socket, connect } from 'node:net';

export interface HttpTarget {
  readonly host: string;
  readonly port: number;
}

export interface HttpAnswer {
  readonly status: number;
  readonly body: Buffer;
}

export interface HttpConnection {
  /** Sends the bytes of one whole request and resolves with its answer. Only one at a time. */
  send(request: Buffer): Promise<HttpAnswer>;
  /** False once either side has closed it. */
  readonly open: boolean;
  close(): void;
}

const answerTimeoutMsDefault = 120_000;
const emptyBody = Buffer.alloc(0);

/** The bytes of one request; `Content-Length` and `Host` are added. */
export function httpRequest(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer = emptyBody,
): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  let head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${bytes.length}\r\n`;
  for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
  return Buffer.concat([Buffer.from(`${head}\r\n`), bytes]);
}

/** Connects; a request without an answer in `answerTimeoutMs` fails. */
export function openConnection(
  target: HttpTarget,
  answerTimeoutMs = answerTimeoutMsDefault,
): Promise<HttpConnection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ ...target, noDelay: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(overSocket(socket, answerTimeoutMs));
    });
  });
}

/**
 * A connection for questions with long pauses between: one that the server closed meanwhile is
 * replaced by a new one.
 */
export async function openPatientConnection(
  target: HttpTarget,
  answerTimeoutMs = answerTimeoutMsDefault,
): Promise<HttpConnection> {
  let connection = await openConnection(target, answerTimeoutMs);
  return {
    get open() {
      return connection.open;
    },
    async send(request) {
      if (!connection.open) connection = await openConnection(target, answerTimeoutMs);
      return connection.send(request);
    },
    close: () => connection.close(),
  };
}

export async function openConnections(
  target: HttpTarget,
  count: number,
): Promise<HttpConnection[]> {
  return Promise.all(Array.from({ length: count }, () => openConnection(target)));
}

function overSocket(socket: Socket, answerTimeoutMs: number): HttpConnection {
  let waiting: { resolve(answer: HttpAnswer): void; reject(error: Error): void } | undefined;
  let received: Buffer = emptyBody;
  const fail = (error: Error): void => {
    waiting?.reject(error);
    waiting = undefined;
  };
  socket.setTimeout(answerTimeoutMs, () =>
    socket.destroy(new Error(`no answer in ${answerTimeoutMs} ms`)),
  );
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    let answer: HttpAnswer | undefined;
    try {
      answer = wholeAnswer(received);
    } catch (error) {
      socket.destroy(error as Error);
    }
    if (answer === undefined) return;
    received = emptyBody;
    const asker = waiting;
    waiting = undefined;
    asker?.resolve(answer);
  });
  // A server that closes an idle connection ends its half first; then nothing more can be asked.
  const isOpen = (): boolean => !socket.destroyed && !socket.readableEnded;
  return {
    get open() {
      return isOpen();
    },
    send(request) {
      return new Promise((resolve, reject) => {
        if (!isOpen()) return reject(new Error('the connection is closed'));
        if (waiting !== undefined)
          return reject(new Error('the connection still waits for an answer'));
        waiting = { resolve, reject };
        socket.write(request);
      });
    },
    close: () => socket.destroy(),
  };
}

// Undefined until the last byte is there. Nothing follows an answer, because only one request is in
// flight.
function wholeAnswer(bytes: Buffer): HttpAnswer | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd).toLowerCase();
  const status = Number(head.slice(9, 12));
  const bodyStart = headEnd + 4;
  const lengthAt = head.indexOf('\r\ncontent-length:');
  if (lengthAt >= 0) {
    const length = Number.parseInt(head.slice(lengthAt + 17), 10);
    return bytes.length < bodyStart + length
      ? undefined
      : { status, body: bytes.subarray(bodyStart, bodyStart + length) };
  }
  if (status === 204 || status === 304) return { status, body: emptyBody };
  if (!head.includes('transfer-encoding: chunked')) throw new Error('an answer without a length');
  if (!bytes.subarray(-5).equals(lastChunk)) return undefined;
  return dechunked(bytes, bodyStart, status);
}

const lastChunk = Buffer.from('0\r\n\r\n');

function dechunked(bytes: Buffer, bodyStart: number, status: number): HttpAnswer | undefined {
  const parts: Buffer[] = [];
  let at = bodyStart;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const length = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    if (length === 0) return { status, body: Buffer.concat(parts) };
    if (bytes.length < lineEnd + 2 + length + 2) return undefined;
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + length));
    at = lineEnd + 2 + length + 2;
  }
}

/** Throws with the answer's text unless its status is one of success. */
export function mustSucceed(answer: HttpAnswer): Buffer {
  if (answer.status < 200 || answer.status > 299) {
    throw new Error(`HTTP ${answer.status}: ${answer.body.toString().slice(0, 500)}`);
  }
  return answer.body;
}

/** Runs the tasks with one worker per lane; a lane takes the next task when its own is done. */
export async function inLanes<Lane, Task>(
  lanes: readonly Lane[],
  tasks: readonly Task[],
  run: (lane: Lane, task: Task, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  await Promise.all(
    lanes.map(async (lane) => {
      while (next < tasks.length) {
        const index = next++;
        await run(lane, tasks[index]!, index);
      }
    }),
  );
}
