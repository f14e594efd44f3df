// Nodes: the port over which the nodes of a cluster ask each other and forward requests.
import type { Readable } from 'node:stream';
import type { NodeAddress } from '../../model/node-messages.ts';

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
