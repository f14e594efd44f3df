// HTTPS server for tests of connectors: records requests and returns configured answers.
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { createServer } from 'node:https';
import type { TestCertificate } from './certificate.ts';

export interface HeardRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpsAnswer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface HttpsServer {
  readonly port: number;
  readonly heard: readonly HeardRequest[];
  stop(): Promise<void>;
}

/** `answer` may be undefined for a server that never answers. */
export async function startHttpsServer(
  { cert, key }: TestCertificate,
  answer: (request: HeardRequest) => HttpsAnswer | undefined,
): Promise<HttpsServer> {
  const heard: HeardRequest[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, body: Buffer.concat(chunks).toString() };
      heard.push(one);
      const given = answer(one);
      if (given !== undefined)
        response.writeHead(given.status, given.headers ?? {}).end(given.body ?? '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    heard,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
