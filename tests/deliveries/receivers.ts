// Receivers for deliveries: webhook servers that answer as a test says, over HTTP or TLS.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body. */
  // Tests say what they expect of a body; its type would say it twice.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export type Answering = (request: Received, response: ServerResponse) => void;

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** How the next requests are answered; 200 with `ok` at first. */
  answering: Answering;
  /** Resolves when this number of requests has arrived. */
  atLeast(count: number): Promise<readonly Received[]>;
  close(): Promise<void>;
}

export async function startReceiver(tls?: {
  readonly key: string;
  readonly cert: string;
}): Promise<Receiver> {
  const received: Received[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  const receiver = { answering: ((_, response) => void response.end('ok')) as Answering };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, text, body: parsed(text) };
      received.push(one);
      receiver.answering(one, response);
      for (const { count, resolve } of waiting) if (received.length >= count) resolve();
    });
  };
  const server: Server = tls === undefined ? createServer(handle) : createTlsServer(tls, handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(receiver, {
    port,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    received,
    async atLeast(count: number) {
      if (received.length < count)
        await new Promise<void>((resolve) => waiting.push({ count, resolve }));
      return received;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
