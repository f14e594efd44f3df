// Internal port: where a node receives calls and forwarded requests of the others, signed with the secret of the cluster.
import { createHash } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import {
  aboutForwarded,
  type CallHandlers,
  callPath,
  createCallTable,
  feedPath,
  type HandleCall,
  longer,
  meetCall,
  mqttPath,
  mqttSocketPath,
  nodeHeaders,
  nodeLimits,
  passedHeaders,
} from '../nodes.ts';
import { bodyFollows, digestOf, sealBytes, SignatureCheck } from '../cluster-secret.ts';
import { setTimer } from '../../../structures/timers.ts';
import { type FeedHandlers, FeedServer } from '../feeds.ts';

// Quiet wait: before its port closes, a node waits until the others send it no more requests.

const quietLimits = {
  /** Other nodes learn within this time that the node gave its leases away. */
  quietMs: 400,
  /** How long the node waits at most. */
  waitMsMax: 2_000,
} as const;

interface QuietWait {
  /** Call for every request. While the node waits, each connection ends with its answer. */
  requested(response: ServerResponse): void;
  /**
   * Resolves after a time without a request that begins now, or after a limit. A request in flight when
   * the port closes would be lost, and no client knows whether it was handled.
   */
  whenQuiet(): Promise<void>;
}

export function createQuietWait(now: () => number = () => performance.now()): QuietWait {
  let isWaiting = false;
  let requestedAt = 0;
  return {
    requested(response) {
      requestedAt = now();
      if (isWaiting) response.setHeader('connection', 'close');
    },
    async whenQuiet() {
      isWaiting = true;
      // That nobody asked before tells nothing: other nodes have just begun to learn.
      requestedAt = now();
      const until = requestedAt + quietLimits.waitMsMax;
      for (let left = restMs(); left > 0 && now() < until; left = restMs()) await wait(left);
    },
  };

  function restMs(): number {
    return requestedAt + quietLimits.quietMs - now();
  }
}

const keepAliveAfterMs = 10_000;

/** How long the body of a refused request is read. */
const unreadMsMax = 2_000;

export interface InternalPortParts {
  /** Of this node. */
  readonly id: string;
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
  /** False while this node ends its clients of MQTT, before others hold their workspaces. */
  readonly servesMqtt: () => boolean;
  /** Serves the connection of a client of MQTT, which has the address. */
  readonly acceptMqtt: (socket: Socket, address: string, isWebSocket: boolean) => void;
  /** Reports a request that no node of this cluster signed, or that was received before. */
  readonly refused: (address: string, reason: string) => void;
  /** Reports a handler that failed. */
  readonly failed: (call: string, error: unknown) => void;
  readonly now?: () => number;
}

type Accepted = ReturnType<SignatureCheck['accept']>;

export class InternalPort {
  readonly #quiet = createQuietWait();
  readonly #server: Server;
  readonly #feeds: FeedServer;

  constructor(parts: InternalPortParts) {
    const check = new SignatureCheck(parts.secret, parts.now ?? Date.now);
    const accept = ({ method = '', url: path = '', headers }: IncomingMessage): Accepted => {
      const [from, lease, address, call] = [
        nodeHeaders.from,
        nodeHeaders.lease,
        nodeHeaders.address,
        nodeHeaders.call,
      ].map((name) => String(headers[name] ?? ''));
      const isForwarded = lease !== '' && !path.startsWith(callPath);
      const about = isForwarded ? aboutForwarded(lease ?? '', address ?? '') : (call ?? '');
      const signed = { method, path, from: from ?? '', to: parts.id, about };
      return check.accept(headers[nodeHeaders.signature], signed);
    };
    // A node that is about to send a long body asks first, because it could not send it again.
    const handleCall = createCallTable(new Map([...parts.handlers, [meetCall, async () => null]]));
    this.#server = serverOf(parts, (request, response) => {
      const { socket, url = '' } = request;
      this.#quiet.requested(response);
      const accepted = accept(request);
      if ('refused' in accepted) {
        const told = { [nodeHeaders.run]: check.run };
        if (accepted.refused === 'another run') {
          request.resume();
          return void response.writeHead(401, told).end(accepted.refused);
        }
        parts.refused(socket.remoteAddress ?? '', accepted.refused);
        // What follows on the connection is not read.
        return void response.writeHead(401, { connection: 'close' }).end(accepted.refused);
      }
      if (url.startsWith(callPath))
        return void answerCall(parts, { handle: handleCall, ...accepted }, request, response);
      serveForwarded(parts, { check, ...accepted }, request, response);
    });
    // The other node ends idle connections first, so that it never sends on one that just ended.
    this.#server.keepAliveTimeout = 60_000;
    this.#feeds = new FeedServer(parts.feeds, parts.failed);
    acceptUpgrades(this.#server, this.#feeds, parts, accept, check.run);
  }

  readonly close = async (): Promise<void> => {
    await this.#quiet.whenQuiet();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await this.#feeds.close();
    this.#server.closeIdleConnections();
    await closed;
  };

  /** Resolves with the port that was bound. */
  listen({ host, port }: { readonly host: string; readonly port: number }): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        const address = this.#server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : port);
      });
    });
  }
}

function acceptUpgrades(
  server: Server,
  feeds: FeedServer,
  parts: InternalPortParts,
  accept: (request: IncomingMessage) => Accepted,
  run: string,
): void {
  server.on('upgrade', (request, socket: Socket, head) => {
    const accepted = accept(request);
    const reason = 'refused' in accepted ? accepted.refused : 'not the path of an upgrade';
    const path = 'digest' in accepted ? request.url : undefined;
    if (path === feedPath) {
      acceptUpgrade(socket, head);
      return feeds.accept(socket, String(request.headers[nodeHeaders.from] ?? ''));
    }
    if (path === mqttPath || path === mqttSocketPath)
      return acceptConnection(parts, request, socket, head);
    const isOfNode = reason === 'another run';
    if (!isOfNode) parts.refused(socket.remoteAddress ?? '', reason);
    const told = isOfNode ? `${nodeHeaders.run}: ${run}\r\n` : '';
    socket.end(
      `HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n${told}Content-Length: 0\r\n\r\n`,
    );
  });
}

/** The connection of a client is served here or refused. */
function acceptConnection(
  { holds, servesMqtt, acceptMqtt }: InternalPortParts,
  { headers, url }: IncomingMessage,
  socket: Socket,
  head: Buffer,
): void {
  socket.on('error', () => undefined);
  const lease = String(headers[nodeHeaders.lease]);
  if (!holds(lease) || !servesMqtt()) {
    const told = `${nodeHeaders.notHeld}: 1\r\nConnection: close\r\nContent-Length: 0`;
    return void socket.end(`HTTP/1.1 421 Misdirected Request\r\n${told}\r\n\r\n`);
  }
  acceptUpgrade(socket, head);
  // Servers of HTTP leave a connection half open when the other side ends it.
  socket.once('end', () => socket.end());
  acceptMqtt(socket, String(headers[nodeHeaders.address]), url === mqttSocketPath);
}

function acceptUpgrade(socket: Socket, head: Buffer): void {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: bytes\r\n\r\n');
  if (head.length > 0) socket.unshift(head);
  socket.setNoDelay(true).setKeepAlive(true, keepAliveAfterMs);
}

function serverOf({ tls }: InternalPortParts, listener: RequestListener): Server {
  const requestTimeout = nodeLimits.forwardMsMax;
  if (tls !== undefined) return createTlsServer({ ...tls, requestTimeout }, listener);
  return createServer({ requestTimeout }, listener);
}

/** A forwarded request is served here or refused, and never forwarded again. */
function serveForwarded(
  { holds, serve }: InternalPortParts,
  signed: SignedBody,
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
  withSignedBody(request, signed);
  for (const name of Object.values(nodeHeaders)) delete headers[name];
  request.rawHeaders = [...passedHeaders(request.rawHeaders)];
  if (signed.digest === bodyFollows) {
    request.rawHeaders = longer(request.rawHeaders, -sealBytes);
    const { 'content-length': length } = headers;
    if (length !== undefined) headers['content-length'] = String(Number(length) - sealBytes);
  }
  // One request at a time is on the connection, so its address is that of the client until the end.
  Object.defineProperty(socket, 'remoteAddress', { value, configurable: true });
  serve(request, response);
}

interface SignedBody {
  readonly check: SignatureCheck;
  readonly digest: string;
}

/**
 * Ends the body only if it is the one that was signed: else it breaks off, as that of a client who
 * is gone. Of a body that is followed by its seal, the seal is removed.
 */
function withSignedBody(request: IncomingMessage, { check, digest }: SignedBody): void {
  const isSealed = digest === bodyFollows;
  const signature = String(request.headers[nodeHeaders.signature]);
  const found = createHash('sha256');
  const push = request.push.bind(request);
  let held: Buffer = Buffer.alloc(0);
  request.push = (chunk: Buffer | null) => {
    if (chunk !== null && !isSealed) {
      found.update(chunk);
      return push(chunk);
    }
    if (chunk !== null) {
      held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      const known = held.subarray(0, -sealBytes);
      if (known.length === 0) return true;
      held = held.subarray(-sealBytes);
      found.update(known);
      return push(known);
    }
    const whole = found.digest();
    const isRight = isSealed
      ? check.isSealed(signature, whole, held)
      : whole.toString('base64url') === digest;
    if (isRight) return push(null);
    request.destroy(new Error('The body is not the one that was signed'));
    return false;
  };
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
  { handle, digest }: { readonly handle: HandleCall; readonly digest: string },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const name = (request.url ?? '').slice(callPath.length);
  try {
    const body = await bodyOf(request);
    if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end();
    if (digestOf(body) !== digest) return void response.writeHead(401).end('wrong body');
    const { [nodeHeaders.from]: from, [nodeHeaders.call]: id } = request.headers;
    if (typeof from !== 'string' || typeof id !== 'string')
      return void response.writeHead(400).end();
    const answer = await handle({ id, name, from, request: JSON.parse(body) as unknown });
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
