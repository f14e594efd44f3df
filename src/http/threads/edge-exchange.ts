// Edge exchange: a request that an edge thread read, and its answer, as the server of the main thread knows them.
import {
  Agent,
  IncomingMessage,
  type OutgoingHttpHeader,
  request as sendRequest,
  ServerResponse,
} from 'node:http';
import { createConnection, type Server as NetServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { plainBodyBytes } from '../edge/direct-exchange.ts';
import { hostsOf } from '../edge/admission.ts';
import type { EdgeWork } from '../edge/route.ts';
import type { LeftJson } from '../../query/unwritten-json.ts';
import { edgeLimits, type WholeRequest } from './edge-messages.ts';

export class EdgeMessage extends IncomingMessage {
  /** Undefined for one that another node read. */
  readonly work: EdgeWork | undefined;

  constructor(
    { method, url, headers, address }: Pick<WholeRequest, 'method' | 'url' | 'headers' | 'address'>,
    body: Buffer,
    work?: EdgeWork,
  ) {
    super({ remoteAddress: address } as Socket);
    this.work = work;
    this.method = method;
    this.url = url;
    this.httpVersion = '1.1';
    this.headers = JSON.parse(headers) as IncomingMessage['headers'];
    // An edge passes on what has not exactly one.
    this.rawHeaders = ['Host', this.headers.host ?? ''];
    this.complete = true;
    if (body.length > 0) this.push(body);
    this.push(null);
  }
}

export const capturePath = '/v3/capture';
/** As its endpoint says; the contract would take memory in every thread. */
const captureRoute = { payload: true } as const;

/** The length of the body of a capture that is read before it is handed on; undefined for every other request. */
export function wholeCaptureBytes(request: IncomingMessage): number | undefined {
  const { method = '', url = '' } = request;
  if (!isCapture(method, url)) return undefined;
  const bytes = wholeBodyBytes(request, captureRoute);
  return bytes === 0 ? undefined : bytes;
}

/** The length of the body of a query that an edge reads whole; undefined for every other request. */
export function wholeQueryBytes(request: IncomingMessage): number | undefined {
  const { method = '', url = '' } = request;
  return isQuery(method, url) ? wholeBodyBytes(request, {}) : undefined;
}

function isCapture(method: string, url: string): boolean {
  if (method !== 'POST' || !url.startsWith(capturePath)) return false;
  return url.charAt(capturePath.length) === '?';
}

const queryPath = /^\/v3\/(?:devices|tags|places)\/(?:[^/?]+\/)?query(?=[/?]|$)(?<rest>[^?]*)/;
/** The older form of series, whose answer is a stream. */
const streamedQuery = '/time-series';

/** A query of samples, whose answer is sent whole. */
function isQuery(method: string, url: string): boolean {
  if (method !== 'POST' && method !== 'GET') return false;
  const found = queryPath.exec(url);
  return found !== null && found.groups?.['rest'] !== streamedQuery;
}

function wholeBodyBytes(
  request: IncomingMessage,
  route: Parameters<typeof plainBodyBytes>[1],
): number | undefined {
  const { httpVersion, headers } = request;
  if (httpVersion !== '1.1' || headers.expect !== undefined) return undefined;
  if (hostsOf(request.rawHeaders) !== 1) return undefined;
  const bytes = plainBodyBytes(request, route);
  return bytes !== undefined && bytes <= edgeLimits.bodyBytesMax ? bytes : undefined;
}

type Head = readonly (OutgoingHttpHeader | undefined)[];

type Answer = (status: number, head: string[], body: string | Uint8Array, json?: LeftJson) => void;

/** Answers of captures and queries are sent whole. */
export class EdgeResponse extends ServerResponse {
  /** Instead of the body; the edge completes the head. */
  json: LeftJson | undefined;
  /** Whether it may have it; a node that passes a request on only writes the answer. */
  readonly takesJson: boolean;
  readonly #answer: Answer;
  readonly #written: Uint8Array[] = [];
  #head: string[] | undefined;

  constructor(message: EdgeMessage, answer: Answer, takesJson = false) {
    super(message);
    this.takesJson = takesJson;
    this.#answer = answer;
  }

  override writeHead(status: number, ...others: unknown[]): this {
    this.statusCode = status;
    const head = others.at(-1);
    if (Array.isArray(head)) this.#head = (head as Head).map(String);
    else
      for (const [name, value] of Object.entries(head ?? {})) this.setHeader(name, value as string);
    return this;
  }

  override write(chunk: unknown): boolean {
    this.#written.push(bytesOf(chunk));
    return true;
  }

  override end(chunk?: unknown): this {
    if (this.finished) return this;
    const isText = typeof chunk === 'string' && this.#written.length === 0;
    if (!isText && chunk !== undefined && chunk !== null && typeof chunk !== 'function')
      this.#written.push(bytesOf(chunk));
    const body = isText ? chunk : Buffer.concat(this.#written);
    this.#answer(this.statusCode, this.#head ?? this.#setHead(), body, this.json);
    this.finished = true;
    this.emit('finish');
    this.emit('close');
    return this;
  }

  /** What cannot be answered at all ends a connection; here, only this request. */
  override destroy(error?: Error): this {
    if (!this.finished) this.#answer(500, ['content-length', '0'], '');
    this.finished = true;
    return super.destroy(error);
  }

  #setHead(): string[] {
    return Object.entries(this.getHeaders()).flatMap(([name, value]) =>
      [value].flat().flatMap((one) => [name, String(one)]),
    );
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Uint8Array);
}

// Edge connections: which of them an edge serves, and the way of all others to the main thread, as bytes.

// A connection begins with what its client sends first. When that is a capture or a query, the edge serves it, and
// sends the odd other request on it to the main thread; else every byte of it goes there, so that
// streams, uploads and WebSockets are served as they are without edges.

/** Who has sent nothing until then is waited for by the main thread, whose time limits are the same for all. */
const firstBytesMs = 1_000;

/**
 * Replaces what the server does with a new connection. `event` is 'secureConnection' with TLS.
 * WebSockets, which stay open and of which one sample goes to many, have links to the main thread.
 */
export function divideConnections(
  server: NetServer,
  event: 'connection' | 'secureConnection',
  mainSocket: string,
  openLink: (address: string) => Duplex,
): void {
  const serve = takeListener(server, event);
  server.on(event, (socket: Socket) => {
    const decide = (first: Buffer | null) => {
      clearTimeout(late);
      socket.off('readable', look);
      socket.off('error', ignored);
      if (socket.destroyed) return;
      if (first !== null) socket.unshift(first);
      if (first !== null && isServed(first)) serve.call(server, socket);
      else if (first !== null && isUpgrade(first))
        passOn(socket, openLink(socket.remoteAddress ?? ''));
      else passOn(socket, connectMain(mainSocket, socket));
    };
    const look = () => {
      const first = socket.read() as Buffer | null;
      if (first !== null || socket.readableEnded || !socket.readable) decide(first);
    };
    const late = setTimeout(decide, firstBytesMs, null).unref();
    socket.on('error', ignored);
    socket.on('readable', look);
  });
}

/** The one that the server itself has, which it then has no more. */
function takeListener(server: NetServer, event: string): (socket: Socket) => void {
  const [listener] = server.listeners(event) as ((socket: Socket) => void)[];
  if (listener === undefined) throw new Error(`The server has no listener of ${event}`);
  server.off(event, listener);
  return listener;
}

/** By the first line, which is there whole but for hardly any client. */
function isServed(first: Buffer): boolean {
  const end = first.indexOf('\r\n');
  if (end === -1) return false;
  const [method = '', url = '', version] = first.toString('latin1', 0, end).split(' ');
  return version === 'HTTP/1.1' && (isCapture(method, url) || isQuery(method, url));
}

function ignored(): void {}

/** A whole request for a WebSocket; the main thread limits the time of one that comes in parts. */
function isUpgrade(first: Buffer): boolean {
  const end = first.indexOf('\r\n\r\n');
  return end !== -1 && /\r\nupgrade: *websocket/i.test(first.toString('latin1', 0, end));
}

/** The first line that the main thread reads is the address of the client. */
function connectMain(mainSocket: string, { remoteAddress = '' }: Socket): Socket {
  const upstream = createConnection({ path: mainSocket, allowHalfOpen: true });
  upstream.write(`${remoteAddress}\n`);
  return upstream;
}

/** Connects both as if they were one connection. */
export function passOn(socket: Socket, upstream: Duplex): void {
  socket.setNoDelay(true);
  carry(socket, upstream);
  carry(upstream, socket);
}

/** What one side sent before it closed still reaches the other one. */
function carry(from: Duplex, to: Duplex): void {
  from.once('error', ignored);
  from.once('close', () => {
    if (!from.readableEnded) to.destroy();
  });
  from.pipe(to);
}

/** Sends requests of one connection to the main thread. */
export class RequestsElsewhere {
  readonly #agents = new WeakMap<Socket, Agent>();
  readonly #mainSocket: string;

  constructor(mainSocket: string) {
    this.#mainSocket = mainSocket;
  }

  /** Answers as the main thread does. */
  send(request: IncomingMessage, response: ServerResponse): void {
    const { method, url, rawHeaders, socket } = request;
    const there = sendRequest({
      agent: this.#agentOf(socket),
      method,
      path: url,
      headers: endToEnd(rawHeaders),
      setHost: false,
    });
    there.once('response', (answer) => {
      const { statusCode = 502, headers, rawHeaders } = answer;
      const isLast = headers.connection === 'close';
      if (isLast) response.shouldKeepAlive = false;
      response.writeHead(statusCode, isLast ? rawHeaders : endToEnd(rawHeaders));
      answer.once('error', () => response.destroy());
      answer.pipe(response);
    });
    there.on('error', () => {
      // What was answered before the end of the body is complete.
      if (!response.headersSent) response.destroy();
    });
    response.once('close', () => {
      there.destroy();
      // What is left of the body stands before the next request.
      request.unpipe(there);
      request.resume();
    });
    // The answer may come before the body.
    there.flushHeaders();
    request.pipe(there);
  }

  #agentOf(socket: Socket): Agent {
    const known = this.#agents.get(socket);
    if (known !== undefined) return known;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agent.createConnection = () => connectMain(this.#mainSocket, socket);
    socket.once('close', () => agent.destroy());
    this.#agents.set(socket, agent);
    return agent;
  }
}

/** Without the fields that are about a connection (RFC 9110, 7.6.1); names and values in turn. */
function endToEnd(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? '';
    if (!/^(?:connection|keep-alive)$/i.test(name)) kept.push(name, raw[at + 1] ?? '');
  }
  return kept;
}

// The main thread's side.

/** A longer first line is not from an edge. */
const firstLineMax = 64;

/**
 * Takes connections that edges pass on: their first line becomes the address of the client. Returns
 * what serves a link, which knows its address.
 */
export function takePassedOn(server: NetServer): (link: Duplex) => void {
  const serve = takeListener(server, 'connection');
  server.prependListener('connection', (socket: Socket) => {
    let head = Buffer.alloc(0);
    const read = () => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) {
        if (socket.readable) socket.once('readable', read);
        return;
      }
      head = Buffer.concat([head, chunk]);
      const end = head.indexOf(0x0a);
      if (end === -1 && head.length <= firstLineMax) return void socket.once('readable', read);
      if (end === -1) return void socket.destroy();
      socket.off('error', ignored);
      Object.defineProperty(socket, 'remoteAddress', { value: head.toString('latin1', 0, end) });
      if (end + 1 < head.length) socket.unshift(head.subarray(end + 1));
      serve.call(server, socket);
    };
    socket.on('error', ignored);
    socket.once('readable', read);
  });
  return (link) => serve.call(server, link as Socket);
}
