// Nodes: the port over which the nodes of a cluster ask each other and forward requests.
import type { Duplex, Readable } from 'node:stream';
import type { NodeAddress } from '../../model/node-messages.ts';
import { createBoundedMap } from '../../structures/caches.ts';

export const nodeLimits = {
  /** Of a call, and of its answer. */
  callBytesMax: 8 * 1024 * 1024,
  callMsMax: 10_000,
  connectMsMax: 1_000,
  /** Longer than any request of a client. */
  forwardMsMax: 130_000,
  /** Requests to one node that have no answer yet; further ones are refused. */
  requestsMax: 4_000,
  connectionsMax: 128,
  /** Answers that are kept for calls that are sent a second time. */
  answersMax: 2_000,
  /** Answers up to this size are collected before they are passed on. */
  collectedBytesMax: 64 * 1024,
} as const;

/** A request of a client, as it arrived at another node. */
export interface ForwardedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Readable | Uint8Array | undefined;
  /** Of the connection on which the request arrived. */
  readonly remoteAddress: string;
  /** The lease that the receiver must hold. */
  readonly lease: string;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
}

export interface ForwardedAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Readable | Uint8Array;
}

/** A node that does not answer, or that is asked for too much. */
export class NodeUnreachable extends Error {
  override readonly name = 'NodeUnreachable';
  /** Whether the node may have received what was sent. */
  readonly wasSent: boolean;

  /** Whether it takes connections and answers none; one that is gone has another owner soon. */
  readonly isSilent: boolean;

  readonly node: NodeAddress;

  constructor(to: NodeAddress, wasSent: boolean, cause: unknown, isSilent = false) {
    super(`The node ${to.id} at ${to.url} does not answer`, { cause });
    this.node = to;
    this.wasSent = wasSent;
    this.isSilent = isSilent;
  }
}

/** Answers calls of other nodes by name. `from` is the id of the caller. */
export type CallHandlers = ReadonlyMap<
  string,
  (request: unknown, from: string) => Promise<unknown>
>;

export interface CallOptions {
  /** How long each of the two attempts waits, in place of `callMsMax`. */
  readonly answerMsMax?: number;
  /** Whether a client waits that can send again: the call ends soon when the node is silent. */
  readonly isOfClient?: boolean;
}

export interface Nodes {
  /**
   * The answer of the node. A call whose answer is lost is sent once more, and is handled once.
   * Throws NodeUnreachable, or an error with the message of the handler's.
   */
  call(to: NodeAddress, name: string, request: unknown, options?: CallOptions): Promise<unknown>;
  /**
   * The answer to the request; `notHeld` when the node does not hold the lease and did nothing.
   * Throws NodeUnreachable.
   */
  forward(to: NodeAddress, request: ForwardedRequest): Promise<ForwardedAnswer | 'notHeld'>;
  close(): Promise<void>;
}

// Connections: a node opens one to another node, for itself or for a client that goes on there.

export interface Dialed {
  /** At the internal port. */
  readonly path: string;
  /** Undefined for a connection of the node itself. */
  readonly client?: {
    /** The lease that the receiver must hold. */
    readonly lease: string;
    readonly remoteAddress: string;
  };
  /** How long the answer may take, in place of `connectMsMax`. */
  readonly msMax?: number;
}

/** `notHeld` when the node does not hold the lease. Rejects with NodeUnreachable. */
export type DialConnection = (to: NodeAddress, dialed: Dialed) => Promise<Duplex | 'notHeld'>;

// Call table: handles each call of another node once, also when it is received twice.

interface ReceivedCall {
  /** Chosen by the caller; the same when the call is sent again. */
  readonly id: string;
  readonly name: string;
  readonly from: string;
  readonly request: unknown;
}

/** Rejects as the handler does, and for an unknown name. */
export type HandleCall = (call: ReceivedCall) => Promise<unknown>;

export function createCallTable(handlers: CallHandlers): HandleCall {
  const answers = createBoundedMap<string, Promise<unknown>>(nodeLimits.answersMax);
  return ({ id, name, from, request }) => {
    const key = `${from} ${id}`;
    const known = answers.get(key);
    if (known !== undefined) return known;
    const handle = handlers.get(name);
    if (handle === undefined) return Promise.reject(new Error(`Unknown call: ${name}`));
    const answer = Promise.try(handle, request, from);
    answers.set(key, answer);
    return answer;
  };
}

// Node headers: what one node adds to a request to another one, and what of a client's it omits.

export const nodeHeaders = {
  /** Proves that a node of the same cluster sends, and what. */
  signature: 'heliograph-node-signature',
  /** The id of the node that sends. */
  from: 'heliograph-node',
  /** Of a call: the same when it is sent again. */
  call: 'heliograph-call',
  /** Of a forwarded request: the lease that the receiver must hold. */
  lease: 'heliograph-lease',
  /** Of a forwarded request: where it came from. */
  address: 'heliograph-client-address',
  /** Of the answer 421. */
  notHeld: 'heliograph-not-held',
  /** Of an answer to a request that was refused by its signature: the run to sign for. */
  run: 'heliograph-node-run',
} as const;

export const callPath = '/node/calls/';
/** Upgrades to a connection over which a node follows a feed. */
export const feedPath = '/node/feeds';
/** Upgrades to the connection of a client of MQTT. */
export const mqttPath = '/node/mqtt';
/** The same for a client that has a WebSocket. */
export const mqttSocketPath = '/node/mqtt?webSocket=1';
/** The name of the call that only makes two nodes know each other's runs. */
export const meetCall = 'meet';

/** Headers of one connection, which another connection has for itself (RFC 9110, section 7.6.1). */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'expect',
  'proxy-authenticate',
  'proxy-authorization',
]);
const own = new Set<string>(Object.values(nodeHeaders));

/** Headers of a client that go to another node. A client cannot send those of nodes. */
export function* passedHeaders(raw: readonly string[]): Iterable<string> {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const key = name.toLowerCase();
    if (!ofConnection.has(key) && !own.has(key)) yield* [name, value];
  }
}

/** Headers of an answer that go back to the client. */
export function answerHeaders<T>(headers: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));
}

/** What of a forwarded request is signed besides its method, path and body. */
export function aboutForwarded(lease: string, address: string): string {
  return `${lease} ${address}`;
}

/** The same headers, of a body that is so many bytes longer. */
export function longer(raw: readonly string[], bytes: number): string[] {
  return raw.map((value, at) =>
    at % 2 === 1 && raw[at - 1]?.toLowerCase() === 'content-length'
      ? String(Number(value) + bytes)
      : value,
  );
}
