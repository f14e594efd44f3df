// CoAP device for tests: a free UDP port, a client, and raw datagrams.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { request } from 'coap';
import {
  type CoapMessage,
  encodeMessage,
  optionNumbers,
  uintOption,
} from '../../src/transports/coap/coap-message.ts';

/** A UDP port that was free a moment ago. */
export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

export interface CoapAnswered {
  /** As a string: `2.01`. */
  readonly code: string;
  readonly format: unknown;
  readonly text: string;
  // Tests say what they expect of a body; its type would say it twice.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
  readonly options: Readonly<Record<string, unknown>>;
}

export interface CoapAsked {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly pathname?: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly confirmable?: boolean;
  /** Option name of the client to its value. */
  readonly options?: Readonly<Record<string, string | Buffer | number>>;
}

/** Asks as a device with a ready-made client does. */
export async function askCoap(port: number, asked: CoapAsked): Promise<CoapAnswered> {
  const outgoing = request({
    hostname: '127.0.0.1',
    port,
    method: asked.method ?? 'POST',
    pathname: asked.pathname ?? '/v3/capture',
    // The client sends the query literally, so it is written without escapes.
    query: Object.entries(asked.query ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .join('&'),
    confirmable: asked.confirmable ?? true,
    options: asked.options ?? { 'Content-Format': 'application/json' },
  });
  outgoing.end(asked.body);
  const [answer] = await once(outgoing, 'response');
  const text = (answer.payload as Buffer).toString();
  return {
    code: answer.code,
    format: answer.headers['Content-Format'],
    text,
    body: text.startsWith('{') ? JSON.parse(text) : undefined,
    options: answer.headers,
  };
}

export interface RawCoapSocket {
  send(datagram: Buffer): void;
  /** The next datagram; rejects when none comes within the time. */
  next(withinMs?: number): Promise<Buffer>;
  /** Those that came and were not taken. */
  readonly came: readonly Buffer[];
  close(): void;
}

export async function rawCoapSocket(port: number): Promise<RawCoapSocket> {
  const socket: Socket = createSocket({ type: 'udp4', recvBufferSize: 4 * 1024 * 1024 });
  const came: Buffer[] = [];
  let taker: ((datagram: Buffer) => void) | undefined;
  socket.on('message', (datagram) => {
    if (taker === undefined) came.push(datagram);
    else taker(datagram);
    taker = undefined;
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    send: (datagram) => socket.send(datagram, port, '127.0.0.1'),
    next: (withinMs = 5_000) =>
      new Promise((resolve, reject) => {
        const first = came.shift();
        if (first !== undefined) return resolve(first);
        const timer = setTimeout(() => {
          taker = undefined;
          reject(new Error(`no datagram within ${withinMs} ms`));
        }, withinMs);
        taker = (datagram) => {
          clearTimeout(timer);
          resolve(datagram);
        };
      }),
    came,
    close: () => socket.close(),
  };
}

/** A confirmable capture of the device; `more` has further options. */
export function captureMessage(
  one: { readonly secret: string; readonly deviceId: string },
  id: number,
  payload: string | Buffer,
  more: Partial<CoapMessage> = {},
): Buffer {
  const text = (number: number, value: string) => ({ number, value: Buffer.from(value) });
  const options = [
    text(optionNumbers.uriPath, 'v3'),
    text(optionNumbers.uriPath, 'capture'),
    uintOption('contentFormat', 50),
    text(optionNumbers.uriQuery, `secret=${one.secret}`),
    text(optionNumbers.uriQuery, `deviceId=${one.deviceId}`),
    ...(more.options ?? []),
  ].toSorted((a, b) => a.number - b.number);
  return encodeMessage({
    type: 0,
    code: 2,
    id,
    token: Buffer.from([1, 2]),
    payload: Buffer.from(payload),
    ...more,
    options,
  });
}
