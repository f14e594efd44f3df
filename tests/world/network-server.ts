// Network server for tests: a real HTTP server that records requests and returns configured answers.
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // Tests say what they expect of a body; its type would say it twice.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Keeps the request open until the server is closed. */
  readonly never?: boolean;
}

export interface TestNetworkServer {
  readonly url: string;
  readonly asked: readonly Asked[];
  /** What is answered from now on. */
  answer(next: Answer | ((asked: Asked) => Answer)): void;
  /** Resolves after this number of requests. */
  askedTimes(count: number): Promise<void>;
  close(): Promise<void>;
}

export async function startNetworkServer(): Promise<TestNetworkServer> {
  const asked: Asked[] = [];
  const waiting: (() => void)[] = [];
  let answer: (one: Asked) => Answer = () => ({ status: 200, body: {} });
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method = '', url = '', headers } = request;
      const one: Asked = {
        method,
        path: url,
        headers,
        body: text === '' ? undefined : JSON.parse(text),
      };
      asked.push(one);
      const { status, body, headers: more = {}, never } = answer(one);
      if (never !== true) {
        response.writeHead(status, { 'content-type': 'application/json', ...more });
        response.end(body === undefined ? '' : JSON.stringify(body));
      }
      for (const wake of waiting.splice(0)) wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer(next) {
      answer = typeof next === 'function' ? next : () => next;
    },
    async askedTimes(count) {
      while (asked.length < count) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
