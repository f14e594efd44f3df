// Feeds: streams of messages that a node offers to the others, each followed over a connection of its own, as lines of JSON.
import type { Duplex } from 'node:stream';
import type { NodeAddress } from '../../model/node-messages.ts';
import { isRefused, Problem, problemOf, type Refusal, refusalOf } from '../../model/problem.ts';
import { FairTurns } from '../../structures/work-queues.ts';
import { setRepeatingTimer, setTimer } from '../../structures/timers.ts';
import { type DialConnection, feedPath, NodeUnreachable } from './nodes.ts';

export const feedLimits = {
  /** Both ends send at least one line in this time. */
  beatMs: 100,
  /** Beats that are missing when a connection is broken. */
  missedBeatsMax: 30,
  /** Feeds of one name that one node follows at another one; further ones are refused. */
  feedsMax: 256,
  /** What a follower has received and not read when it stops receiving; each message counts more than its length. */
  unreadCostMax: 256 * 1024,
  messageCost: 100,
  /** Of one message; a longer one breaks the connection. */
  messageBytesMax: 64 * 1024 * 1024,
  connectMsMax: 3_000,
  /** Connections that are opened at the same time; nodes take turns, and further ones are refused. */
  connectingMax: 32,
  waitingPerNodeMax: 10_000,
  waitingNodesMax: 1_000,
  /** Waits before a feed is opened again: after the first failure, the second, and so on. */
  retryDelaysMs: [100, 200, 500, 1_000, 2_000],
} as const;

/** A feed that a node follows. The messages can be read once. */
export interface FollowedFeed extends AsyncIterable<unknown> {
  /** Sends a change of the request to the other node, which a request that is not made yet includes. */
  change(request: unknown): void;
  /** Ends the feed, also when it is not read. */
  close(): void;
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
 * Sends a feed. The next message is asked for when the connection takes it, so a slow follower
 * never fills the memory of the sender.
 */
export type FeedHandler = (opened: OpenedFeed) => AsyncIterable<unknown>;

/** Feeds that a node offers, by name. */
export type FeedHandlers = ReadonlyMap<string, FeedHandler>;

/** The first line of a follower; each further one is a change. */
interface Opening {
  readonly feed: string;
  readonly request: unknown;
}
interface Change {
  readonly change: unknown;
}
/** A line of the sender: a message, or why none follows; null when the feed is over. */
type Sent =
  | { readonly item: unknown }
  | { readonly end: Refusal | { readonly message: string } | null };

/** The feeds of other nodes that this one follows. */
export class Feeds {
  readonly #dial: DialConnection;
  readonly #open = new Set<Following>();
  readonly #connecting = new FairTurns(
    {
      runningMax: feedLimits.connectingMax,
      waitingPerKeyMax: feedLimits.waitingPerNodeMax,
      keysMax: feedLimits.waitingNodesMax,
    },
    () => new Error('too many feeds are being opened'),
  );
  /** Consecutive failures by address; a feed that has delivered something ends them. */
  readonly #failures = new Map<string, number>();
  #isClosed = false;

  constructor(dial: DialConnection) {
    this.#dial = dial;
  }

  /**
   * Follows a feed of another node. Reading throws NodeUnreachable when the connection cannot be
   * opened or breaks, and what the feed threw: a Problem, or an error with its message. The caller
   * then follows again from where it was; how often a connection is opened is limited. The request is
   * made when the connection is open, which can be seconds later.
   */
  readonly follow = (to: NodeAddress, feed: string, request: () => unknown): FollowedFeed => {
    const following = new Following(to, () => void this.#failures.delete(to.url));
    this.#open.add(following);
    void following.ended.then(() => this.#open.delete(following));
    this.#connect(to)
      .then((socket) => following.begin(socket, () => ({ feed, request: request() })))
      .catch((error: Error) => following.finish(error));
    return following;
  };

  close(): void {
    this.#isClosed = true;
    for (const feed of this.#open) feed.finish(this.#stopping(feed.to));
  }

  async #connect(to: NodeAddress): Promise<Duplex> {
    await this.#waitAfterFailures(to);
    if (this.#isClosed) throw this.#stopping(to);
    try {
      const dialed = { path: feedPath, msMax: feedLimits.connectMsMax };
      const socket = await this.#connecting.run(to.url, () => this.#dial(to, dialed));
      if (socket === 'notHeld') throw new NodeUnreachable(to, false, 'it offers no feeds');
      return socket;
    } catch (error) {
      this.#failures.set(to.url, (this.#failures.get(to.url) ?? 0) + 1);
      throw error instanceof NodeUnreachable ? error : new NodeUnreachable(to, false, error);
    }
  }

  #waitAfterFailures({ url }: NodeAddress): Promise<void> {
    const failures = this.#failures.get(url) ?? 0;
    if (failures === 0) return Promise.resolve();
    const delays = feedLimits.retryDelaysMs;
    const delayMs = delays[failures - 1] ?? delays.at(-1) ?? 0;
    return new Promise((resolve) => void setTimer(resolve, delayMs));
  }

  #stopping(to: NodeAddress): NodeUnreachable {
    return new NodeUnreachable(to, false, 'this node is stopping');
  }
}

class Following implements FollowedFeed {
  readonly to: NodeAddress;
  /** Resolves when no further message comes. */
  readonly ended: Promise<void>;
  readonly #messages: AsyncGenerator;
  readonly #delivered: () => void;
  readonly #whenEnded = Promise.withResolvers<void>();
  readonly #unread: { readonly item: unknown; readonly cost: number }[] = [];
  #unreadCost = 0;
  #lines: Lines | undefined;
  /** Why no further message comes; null when the feed is over. */
  #end: Error | null | undefined;
  #wake: () => void = () => undefined;

  /** `delivered` is called for each message that is read. */
  constructor(to: NodeAddress, delivered: () => void) {
    this.to = to;
    this.ended = this.#whenEnded.promise;
    this.#delivered = delivered;
    this.#messages = this.#read();
  }

  readonly [Symbol.asyncIterator] = (): AsyncGenerator => this.#messages;

  readonly begin = (socket: Duplex, opening: () => Opening): void => {
    if (this.#end !== undefined) return void socket.destroy();
    this.#lines = new Lines(socket, {
      received: (line, bytes) => this.#receive(line as Sent, bytes),
      closed: (reason) => this.finish(new NodeUnreachable(this.to, true, reason)),
    });
    this.#lines.send(opening());
  };

  /** No further message comes, for the reason. */
  finish(end: Error | null): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#lines?.close('the feed is over');
    this.#wake();
    this.#whenEnded.resolve();
  }

  change(request: unknown): void {
    const line: Change = { change: request };
    this.#lines?.send(line);
  }

  close(): void {
    this.#unread.length = 0;
    this.finish(null);
  }

  #receive(line: Sent, bytes: number): void {
    if ('end' in line) return this.finish(line.end && errorOf(line.end));
    const cost = bytes + feedLimits.messageCost;
    this.#unread.push({ item: line.item, cost });
    this.#unreadCost += cost;
    if (this.#unreadCost > feedLimits.unreadCostMax) this.#lines?.pause();
    this.#wake();
  }

  async *#read(): AsyncGenerator {
    try {
      for (;;) {
        const next = this.#unread.shift();
        if (next !== undefined) {
          this.#delivered();
          this.#unreadCost -= next.cost;
          if (this.#unread.length === 0) this.#lines?.resume();
          yield next.item;
        } else if (this.#end === undefined)
          await new Promise<void>((resolve) => (this.#wake = resolve));
        else if (this.#end === null) return;
        else throw this.#end;
      }
    } finally {
      this.close();
    }
  }
}

/** Sends the feeds of this node. */
export class FeedServer {
  readonly #feeds: FeedHandlers;
  /** Reports a feed that failed, other than by a Problem. */
  readonly #failed: (feed: string, error: unknown) => void;
  readonly #open = new Set<SentFeed>();
  #isClosed = false;

  constructor(feeds: FeedHandlers, failed: (feed: string, error: unknown) => void) {
    this.#feeds = feeds;
    this.#failed = failed;
  }

  /** Serves the connection of another node, whose signature is right. */
  accept(socket: Duplex, from: string): void {
    if (this.#isClosed) return void socket.destroy();
    const feed = new SentFeed(
      socket,
      from,
      (name) => this.#handlerOf(name, from),
      this.#failed,
      () => this.#open.delete(feed),
    );
    this.#open.add(feed);
  }

  /** Resolves when no feed works any longer. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#open].map((feed) => feed.close()));
  }

  #handlerOf(name: string, from: string): FeedHandler {
    const same = this.#open.values().filter((feed) => feed.from === from && feed.name === name);
    if ([...same].length > feedLimits.feedsMax)
      throw new Error(`More than ${feedLimits.feedsMax} feeds ${name} of one node`);
    const handler = this.#feeds.get(name);
    if (handler === undefined) throw new Error(`Unknown feed: ${name}`);
    return handler;
  }
}

class SentFeed {
  readonly from: string;
  /** Undefined until the follower has said it. */
  name: string | undefined;
  readonly #handlerOf: (name: string) => FeedHandler;
  readonly #failed: (feed: string, error: unknown) => void;
  readonly #abort = new AbortController();
  readonly #changes: unknown[] = [];
  readonly #lines: Lines;
  #listener: ((request: unknown) => void) | undefined;
  #done: Promise<void> | undefined;

  constructor(
    socket: Duplex,
    from: string,
    handlerOf: (name: string) => FeedHandler,
    failed: (feed: string, error: unknown) => void,
    /** Called when the connection is closed. */
    gone: () => void,
  ) {
    this.from = from;
    this.#handlerOf = handlerOf;
    this.#failed = failed;
    this.#lines = new Lines(socket, {
      received: (line) => this.#receive(line as Opening | Change),
      closed: () => {
        this.#abort.abort();
        gone();
      },
    });
  }

  async close(): Promise<void> {
    this.#lines.close('the node is stopping');
    await this.#done;
  }

  #receive(line: Opening | Change): void {
    if ('feed' in line) this.#done ??= this.#send(line);
    else if (this.#listener === undefined) this.#changes.push(line.change);
    else this.#listener(line.change);
  }

  /** The connection ends behind the last line. */
  async #send({ feed, request }: Opening): Promise<void> {
    let end: Extract<Sent, { readonly end: unknown }> = { end: null };
    this.name = feed;
    try {
      await this.#sendItems(this.#handlerOf(feed), request);
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      if (!(error instanceof Problem)) this.#failed(feed, error);
      end = { end: errorToJson(error) };
    }
    this.#lines.sendLast(end);
  }

  async #sendItems(handler: FeedHandler, request: unknown): Promise<void> {
    const { signal } = this.#abort;
    const onChange = (listener: (request: unknown) => void): void => {
      this.#listener = listener;
      for (const change of this.#changes.splice(0)) listener(change);
    };
    for await (const item of handler({ request, from: this.from, signal, onChange })) {
      if (signal.aborted) return;
      const line: Sent = { item };
      if (!this.#lines.send(line)) await this.#lines.drained();
      if (signal.aborted) return;
    }
  }
}

/** A Problem keeps its name and details; of other errors only the message crosses. */
function errorToJson(error: unknown): Refusal | { readonly message: string } {
  if (!(error instanceof Problem)) return { message: String((error as Error).message) };
  return refusalOf(error);
}

function errorOf(sent: Refusal | { readonly message: string }): Error {
  return isRefused(sent) ? problemOf(sent) : new Error(sent.message);
}

const lineEnd = 0x0a;

/** One end of a connection: lines of JSON, and empty ones while there is nothing else to send. */
class Lines {
  readonly #socket: Duplex;
  readonly #received: (value: unknown, bytes: number) => void;
  readonly #closed: (reason: string) => void;
  readonly #stopBeats: () => void;
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #hasSent = false;
  #silentBeats = 0;
  #isPaused = false;
  #isOver = false;
  #drained = Promise.withResolvers<void>();

  /** `closed` is called once, also after an own `close`. */
  constructor(
    socket: Duplex,
    given: {
      readonly received: (value: unknown, bytes: number) => void;
      readonly closed: (reason: string) => void;
    },
  ) {
    this.#socket = socket;
    this.#received = given.received;
    this.#closed = given.closed;
    socket.on('drain', () => this.#drained.resolve());
    socket.on('error', (error) => this.close(error.message));
    // Servers of HTTP leave a connection half open when the other side ends it.
    socket.on('end', () => this.close('the connection was closed'));
    socket.on('close', () => this.close('the connection was closed'));
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    // Timers that are late fire once, so a pause of this process does not count as silence.
    this.#stopBeats = setRepeatingTimer(() => this.#beat(), feedLimits.beatMs);
  }

  /** Returns false when the other end must take something first. */
  send(value: unknown): boolean {
    return this.#write(`${JSON.stringify(value)}\n`);
  }

  /** The other end closes the connection when it has the line. */
  sendLast(value: unknown): void {
    this.send(value);
    if (!this.#isOver) this.#socket.end();
  }

  /** Resolves when more can be sent, and when the connection is over. */
  drained(): Promise<void> {
    if (this.#isOver || !this.#socket.writableNeedDrain) return Promise.resolve();
    this.#drained = Promise.withResolvers<void>();
    return this.#drained.promise;
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  close(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stopBeats();
    this.#socket.destroy();
    this.#drained.resolve();
    this.#closed(reason);
  }

  #write(line: string): boolean {
    if (this.#isOver || !this.#socket.writable) return true;
    this.#hasSent = true;
    return this.#socket.write(line);
  }

  #beat(): void {
    // What a paused end would hear is behind what it does not take.
    if (!this.#isPaused) this.#silentBeats += 1;
    if (this.#silentBeats > feedLimits.missedBeatsMax)
      return this.close('the other node is silent');
    if (!this.#hasSent && !this.#socket.writableNeedDrain) this.#write('\n');
    this.#hasSent = false;
  }

  #read(bytes: Buffer): void {
    this.#silentBeats = 0;
    let from = 0;
    for (let end = bytes.indexOf(lineEnd); end >= 0; end = bytes.indexOf(lineEnd, from)) {
      this.#add(bytes.subarray(from, end));
      from = end + 1;
      this.#endLine();
      if (this.#isOver) return;
    }
    this.#add(bytes.subarray(from));
  }

  #add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#begun.push(bytes);
    this.#begunBytes += bytes.length;
    if (this.#begunBytes > feedLimits.messageBytesMax) this.close('a message is too long');
  }

  #endLine(): void {
    if (this.#begun.length === 0 || this.#isOver) return;
    const line = Buffer.concat(this.#begun, this.#begunBytes);
    [this.#begun, this.#begunBytes] = [[], 0];
    try {
      this.#received(JSON.parse(line.toString()), line.length);
    } catch (error) {
      this.close(`a message cannot be read: ${(error as Error).message}`);
    }
  }
}
