// Node streams: publishes samples of all other nodes to the sessions of this one, as far as these want them.
import type { LiveInterests } from '../live/sessions/live-interests.ts';
import type { Replay } from '../live/sessions/catch-up.ts';
import type { FanOut } from '../live/sessions/fan-out.ts';
import type { JournalStream } from '../live/sessions/journal-stream.ts';
import type { LiveSample } from '../live/sessions/stream-position.ts';
import type { EntryLog } from '../storage/log/entry-log.ts';
import { cursorAt } from '../model/journal-entry.ts';
import type { NodeAddress } from '../model/node-messages.ts';
import { Problem } from '../model/problem.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { FollowedFeed } from './nodes/feeds.ts';
import {
  sampleFeed,
  type SampleFeedChange,
  type SampleFeedMessage,
  type SampleFeedRequest,
} from './sample-feed.ts';

const nodeStreamLimits = {
  tickMs: 100,
  /** Before a feed that broke is followed again. */
  betweenFeedsMs: 200,
  /**
   * How long a subscription waits for nodes that do not answer. A feed that is silent is broken by
   * then (`feedLimits`), and its node sends what it stores meanwhile when it is followed again; from
   * one that works, samples would be lost that it stores before it knows of the subscription.
   */
  confirmedMsMax: 10_000,
} as const;

interface NodeStreamsParts {
  readonly log: EntryLog;
  /** Name of the own journal. */
  readonly journal: () => string;
  readonly stream: JournalStream;
  readonly interests: LiveInterests;
  /** The other nodes that hold leases. */
  readonly nodes: () => readonly NodeAddress[];
  readonly follow: (node: NodeAddress, feed: string, request: () => unknown) => FollowedFeed;
  readonly publish: (samples: readonly LiveSample[]) => void;
  /** Samples of a node were released before this one had them: sessions must begin again. */
  readonly missed: () => void;
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
  readonly setRepeatingTimer: SetTimer;
}

/** What the live stream of a node needs of the others. */
export interface LiveNodes extends Pick<NodeStreams, 'announced' | 'follow' | 'close'> {
  readonly fanOut: FanOut;
  /** Publishes own entries. */
  readonly own: Pick<FanOut, 'publish' | 'pass' | 'interestsIn' | 'workspaces' | 'size'>;
  readonly replay: Replay;
  /** Follows the other nodes. `missed` is called when sessions must begin again. */
  start(missed: () => void): void;
}

/** Where the feed of another journal goes on. */
type FeedPlace = { readonly from?: number; readonly journal?: string };

export class NodeStreams {
  readonly #parts: NodeStreamsParts;
  readonly #followed = new Map<string, FollowedNode>();
  readonly #waiting = new Set<() => void>();
  /** Where nodes are followed from that were followed before. */
  readonly #left = new Map<string, FeedPlace>();
  readonly #stop: () => void;
  /** Own entries before this position were announced. */
  #announcedTo: number;
  #isClosed = false;

  constructor(parts: NodeStreamsParts) {
    this.#parts = parts;
    this.#announcedTo = parts.log.position;
    this.#stop = parts.setRepeatingTimer(() => this.#tick(), nodeStreamLimits.tickMs);
    this.#tick();
  }

  /** Call for every own entry, before it is published. */
  readonly announced = (end: number): void => {
    this.#announcedTo = Math.max(this.#announcedTo, end);
  };

  /** See the context of messages of sessions. */
  readonly follow = async (assetIds: readonly string[]): Promise<() => void> => {
    const { interests } = this.#parts;
    for (const id of assetIds) interests.followed(id, true);
    this.#sendChange();
    await this.#confirmed(interests.number);
    return () => {
      for (const id of assetIds) interests.followed(id, false);
    };
  };

  /** The other nodes whose journals can be read: they hold leases, or are connected still. */
  readonly readable = (): readonly NodeAddress[] => {
    const holding = this.#parts.nodes();
    const connected = [...this.#followed.values()].filter(
      ({ node, journal, isConnected }) =>
        isConnected && journal !== undefined && !holding.some(({ id }) => id === node.id),
    );
    return [...holding, ...connected.map(({ node }) => node)];
  };

  /** The journal of the node was not read, because that left. */
  readonly unread = ({ id }: NodeAddress): void => {
    const journal = this.#followed.get(id)?.journal;
    if (journal !== undefined) this.#parts.stream.setLive(journal, false);
  };

  readonly close = async (): Promise<void> => {
    this.#stop();
    this.#isClosed = true;
    await Promise.all([...this.#followed.values()].map((followed) => followed.close()));
  };

  #tick(): void {
    const { log, stream, journal, nodes } = this.#parts;
    // With an entry in between, the time would be that of a sample which is not published yet.
    const isKnown = ({ id }: NodeAddress) => this.#followed.get(id)?.journal !== undefined;
    stream.setComplete(nodes().every(isKnown));
    const isIdle = this.#announcedTo === log.position && log.position === log.nextPosition;
    const before = isIdle ? log.reachTime() : 0;
    stream.reached(journal(), { cursor: cursorAt(this.#announcedTo, 0), before });
    this.#sendChange();
    for (const node of nodes()) {
      const known = this.#followed.get(node.id);
      if (known === undefined) this.#start(node);
      // Its address has changed.
      else if (known.node.url !== node.url) void known.close();
    }
  }

  #sendChange(): void {
    const { interests } = this.#parts;
    const interest = interests.takeChange();
    if (interest === undefined) return;
    for (const followed of this.#followed.values())
      followed.change({ number: interests.number, interest });
  }

  /** Nodes that cannot be reached send what they have stored meanwhile, when they can. */
  #confirmed(number: number): Promise<void> {
    const isDone = () =>
      this.#followed.values().every((node) => !node.isConnected || node.confirmed >= number);
    if (isDone()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => {
      if (isDone()) resolve();
    };
    this.#waiting.add(look);
    const cancel = this.#parts.setTimer(resolve, nodeStreamLimits.confirmedMsMax);
    return promise.finally(() => {
      cancel();
      this.#waiting.delete(look);
    });
  }

  #start(node: NodeAddress): void {
    const { stream, interests, follow, setTimer } = this.#parts;
    const first = { since: stream.place.before, ...this.#left.get(node.id) };
    const request = (): SampleFeedRequest => ({
      ...first,
      interest: interests.whole(),
      number: interests.number,
    });
    const followed = new FollowedNode(
      node,
      (place) => follow(node, sampleFeed, () => ({ ...request(), ...place })),
      (message) => this.#take(followed, message),
      (error) => {
        this.#parts.failed(error);
        this.#disconnected(followed);
      },
      () => new Promise((resolve) => void setTimer(resolve, nodeStreamLimits.betweenFeedsMs)),
    );
    this.#followed.set(node.id, followed);
    void followed
      .begin()
      .catch((error: unknown) => {
        // What was released of its journal is read from the store.
        if (error instanceof Problem) {
          this.#left.delete(node.id);
          this.#parts.missed();
        } else if (!this.#isClosed) this.#parts.failed(error);
      })
      .finally(() => {
        this.#disconnected(followed);
        if (this.#followed.get(node.id) === followed) this.#followed.delete(node.id);
      });
  }

  #take(followed: FollowedNode, message: SampleFeedMessage): void {
    const { stream, publish } = this.#parts;
    const { journal, samples, next, before, confirmed } = message;
    if (journal !== undefined) {
      followed.journal = journal;
      stream.setLive(journal, true);
    }
    const name = followed.journal ?? '';
    publish(samples);
    stream.reached(name, { cursor: cursorAt(next, 0), before });
    this.#left.set(followed.node.id, { journal: name, from: next });
    followed.isConnected = true;
    if (confirmed === followed.confirmed) return;
    followed.confirmed = confirmed;
    for (const look of this.#waiting) look();
  }

  /** While the node holds leases, cursors wait for it; else they name the place in its journal. */
  #disconnected(followed: FollowedNode): void {
    const { nodes, stream } = this.#parts;
    const { node, journal } = followed;
    followed.isConnected = false;
    for (const look of this.#waiting) look();
    if (nodes().some(({ id }) => id === node.id)) return;
    if (journal !== undefined) stream.setLive(journal, false);
    void followed.close();
  }
}

/** The journal of another node, without gap or repetition over broken connections. */
class FollowedNode {
  readonly node: NodeAddress;
  journal: string | undefined;
  /** A new node is expected to answer. */
  isConnected = true;
  /** The node knows the interests up to this number. */
  confirmed = -1;
  /** Opens the feed, at a place where it broke. */
  readonly #open: (place: FeedPlace) => FollowedFeed;
  readonly #take: (message: SampleFeedMessage) => void;
  /** The feed is opened again. */
  readonly #broken: (error: unknown) => void;
  readonly #wait: () => Promise<void>;
  #feed: FollowedFeed | undefined;
  #done: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(
    node: NodeAddress,
    open: (place: FeedPlace) => FollowedFeed,
    take: (message: SampleFeedMessage) => void,
    broken: (error: unknown) => void,
    wait: () => Promise<void>,
  ) {
    this.node = node;
    this.#open = open;
    this.#take = take;
    this.#broken = broken;
    this.#wait = wait;
  }

  /**
   * Resolves after `close`. Rejects with Problem `cursorTooOld` when the journal was released beyond
   * the place.
   */
  begin(): Promise<void> {
    this.#done = this.#followAgain();
    return this.#done;
  }

  /** Applies to the open feed; later ones get the whole request. */
  change(change: SampleFeedChange): void {
    this.#feed?.change(change);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#feed?.close();
    await this.#done.catch(() => undefined);
  }

  async #followAgain(): Promise<void> {
    let place: FeedPlace = {};
    while (!this.#isClosed) {
      this.#feed = this.#open(place);
      try {
        for await (const item of this.#feed) {
          const message = item as SampleFeedMessage;
          this.#take(message);
          const { journal, next: from } = message;
          place = { ...place, ...(journal !== undefined && { journal }), from };
        }
      } catch (error) {
        if (error instanceof Problem) throw error;
        this.#broken(error);
      }
      if (!this.#isClosed) await this.#wait();
    }
  }
}
