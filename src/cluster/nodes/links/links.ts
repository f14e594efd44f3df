// Links: the port over which a node follows feeds of other nodes, all of one node over one connection.
import type { NodeAddress } from '../../../model/node-messages.ts';

export const linkLimits = {
  /** Both ends of a link send at least one message in this time. */
  heartbeatMs: 100,
  /** Heartbeats that are missing when a link is broken. */
  missedBeatsMax: 30,
  /** Feeds of one link; the link refuses further ones. */
  feedsMax: 256,
  /** What a node sends of one feed before the follower has taken it. */
  windowBytes: 1024 * 1024,
  /** What a message counts in the window, besides its length. */
  messageCost: 1_024,
  /** The follower reports what it took after so much. */
  takenBytes: 256 * 1024,
  /** Of one message; a feed whose message is longer ends with an error. */
  messageBytesMax: 64 * 1024 * 1024,
  /** A link without feeds is closed after this time. */
  idleMs: 10_000,
  connectMsMax: 3_000,
  /** Waits before a broken link is opened again: after the first failure, the second, and so on. */
  retryDelaysMs: [100, 200, 500, 1_000, 2_000],
} as const;

/** A feed that a node follows. The messages can be read once. */
export interface FollowedFeed extends AsyncIterable<unknown> {
  /** Sends a change of the request to the other node, which a request that is not made yet includes. */
  change(request: unknown): void;
  /** Ends the feed, also when it is not read. */
  close(): void;
}

export interface Links {
  /**
   * Follows a feed of another node. Reading throws NodeUnreachable when the link cannot be opened
   * or breaks, and what the feed threw: a Problem, or an error with its message. The caller then
   * follows again from where it was; the port limits how often a link is opened. The request is made
   * when the link is open, which can be seconds later.
   */
  follow(to: NodeAddress, feed: string, request: () => unknown): FollowedFeed;
  close(): Promise<void>;
}

/** A feed as the node sees it that sends. */
export interface OpenedFeed {
  readonly request: unknown;
  /** Id of the node that follows. */
  readonly from: string;
  /** Aborted when the follower has ended the feed or is gone. */
  readonly signal: AbortSignal;
  /** Calls the listener with each change of the request, also with those that came before. */
  onChange(listener: (request: unknown) => void): void;
}

/**
 * Sends a feed. The next message is asked for when the follower takes it, so a slow follower never
 * fills the memory of the sender.
 */
export type FeedHandler = (opened: OpenedFeed) => AsyncIterable<unknown>;

/** Feeds that a node offers, by name. */
export type FeedHandlers = ReadonlyMap<string, FeedHandler>;
