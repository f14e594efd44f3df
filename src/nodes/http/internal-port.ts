// Internal port: where a node receives calls and forwarded requests of the others, with the secret of the cluster.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Json } from '../../model/json.ts';
import { createCallTable, type HandleCall } from '../call-table.ts';
import { tokenCheck } from '../cluster-secret.ts';
import { type CallHandlers, nodeLimits } from '../nodes.ts';
import type { FeedHandlers } from '../links/links.ts';
import { callPath, linkPath, nodeHeaders, passedHeaders } from '../node-headers.ts';
import { setTimer } from '../../structures/timers.ts';
import { createQuietWait } from './quiet-wait.ts';
import { createLinkServer, type LinkServer } from './web-socket-links.ts';

/** How long the body of a refused request is read. */
const unreadMsMax = 2_000;

export interface InternalPortParts {
  readonly secret: string;
  /** Certificate and key as PEM; without both, the port is not encrypted. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly handlers: CallHandlers;
  /** What other nodes can follow. */
  readonly feeds: FeedHandlers;
  /** Whether this node holds the lease now. */
  readonly holds: (lease: string) => boolean;
  /** Serves a request of a client; its socket has the address of the client. */
  readonly serve: RequestListener;
  /** Reports a request without the secret. */
  readonly refused: (address: string) => void;
  /** Reports a handler that failed. */
  readonly failed: (call: string, error: unknown) => void;
}

export interface InternalPort {
  /** Resolves with the port that was bound. */
  listen(at: { readonly host: string; readonly port: number }): Promise<number>;
  close(): Promise<void>;
}

export function createInternalPort(parts: InternalPortParts): InternalPort {
  const isRight = tokenCheck(parts.secret);
  const handleCall = createCallTable(parts.handlers);
  const quiet = createQuietWait();
  const server = serverOf(parts, (request, response) => {
    const { headers, socket, url = '' } = request;
    quiet.requested(response);
    if (!isRight(headers[nodeHeaders.token])) {
      parts.refused(socket.remoteAddress ?? '');
      // What follows on the connection is not read.
      return void response.writeHead(401, { connection: 'close' }).end();
    }
    if (url.startsWith(callPath)) return void answerCall(parts, handleCall, request, response);
    serveForwarded(parts, request, response);
  });
  // The other node ends idle connections first, so that it never sends on one that just ended.
  server.keepAliveTimeout = 60_000;
  const links = createLinkServer(parts);
  acceptLinks(server, links, parts, isRight);
  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          const address = server.address();
          resolve(typeof address === 'object' && address !== null ? address.port : port);
        });
      }),
    async close() {
      await quiet.whenQuiet();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await links.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}

function acceptLinks(
  server: Server,
  links: LinkServer,
  { refused }: Pick<InternalPortParts, 'refused'>,
  isRight: (sent: unknown) => boolean,
): void {
  server.on('upgrade', (request, socket: Socket, head) => {
    if (isRight(request.headers[nodeHeaders.token]) && request.url === linkPath)
      return links.upgrade(request, socket, head);
    refused(socket.remoteAddress ?? '');
    socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
  });
}

function serverOf({ tls }: InternalPortParts, listener: RequestListener): Server {
  const requestTimeout = nodeLimits.forwardMsMax;
  if (tls !== undefined) return createTlsServer({ ...tls, requestTimeout }, listener);
  return createServer({ requestTimeout }, listener);
}

/** A forwarded request is served here or refused, and never forwarded again. */
function serveForwarded(
  { holds, serve }: InternalPortParts,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { headers, socket } = request;
  const lease = headers[nodeHeaders.lease];
  const value = headers[nodeHeaders.address];
  if (typeof lease !== 'string' || typeof value !== 'string')
    return void response.writeHead(400).end();
  if (!holds(lease)) {
    const refusal = { [nodeHeaders.notHeld]: '1', 'content-length': 0 };
    if (request.complete) return void response.writeHead(421, refusal).end();
    response.writeHead(421, { ...refusal, connection: 'close' }).flushHeaders();
    return endAfterBody(request, response);
  }
  for (const name of Object.values(nodeHeaders)) delete headers[name];
  request.rawHeaders = [...passedHeaders(request.rawHeaders)];
  // One request at a time is on the connection, so its address is that of the client until the end.
  Object.defineProperty(socket, 'remoteAddress', { value, configurable: true });
  serve(request, response);
}

/** A node that still sends would lose the answer if the connection ended with bytes unread. */
function endAfterBody(request: IncomingMessage, response: ServerResponse): void {
  const end = () => void response.end();
  const cancel = setTimer(end, unreadMsMax);
  request.resume().once('close', () => {
    cancel();
    end();
  });
}

async function answerCall(
  { failed }: InternalPortParts,
  handle: HandleCall,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const name = (request.url ?? '').slice(callPath.length);
  try {
    const body = await bodyOf(request);
    if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end();
    const { [nodeHeaders.from]: from, [nodeHeaders.call]: id } = request.headers;
    if (typeof from !== 'string' || typeof id !== 'string')
      return void response.writeHead(400).end();
    const answer = await handle({ id, name, from, request: JSON.parse(body) as Json });
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  } catch (error) {
    failed(name, error);
    if (response.headersSent) return void response.destroy();
    response.writeHead(500).end((error as Error).message);
  }
}

/** Undefined when it is too long. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > nodeLimits.callBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
