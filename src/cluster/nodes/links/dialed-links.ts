// Dialed links: one link to each node that is followed, opened when needed, and not too often after failures.
import type { NodeAddress } from '../../../model/node-messages.ts';
import type { SetTimer } from '../../../structures/timers.ts';
import { NodeUnreachable } from '../nodes.ts';
import {
  feedErrorOf,
  type LinkChannel,
  type LinkMessage,
  type LinkSocket,
  openLinkChannel,
} from './link-channel.ts';
import { type FollowedFeed, linkLimits, type Links } from './links.ts';

interface Peer {
  link: Promise<LinkReceiver> | undefined;
  /** Consecutive failures; a link that has delivered something ends them. */
  failures: number;
}

export function createDialedLinks(parts: {
  /** Opens a connection to the node. Rejects when it cannot. */
  readonly dial: (to: NodeAddress) => Promise<LinkSocket>;
  readonly setTimer: SetTimer;
  readonly setRepeatingTimer: SetTimer;
}): Links {
  const peers = new Map<string, Peer>();
  const open = new Set<LinkReceiver>();
  let isClosed = false;

  function peerOf({ url }: NodeAddress): Peer {
    const known = peers.get(url);
    if (known !== undefined) return known;
    const peer: Peer = { link: undefined, failures: 0 };
    peers.set(url, peer);
    return peer;
  }

  async function dial(to: NodeAddress, peer: Peer): Promise<LinkReceiver> {
    await waitAfter(peer.failures, parts.setTimer);
    peer.failures += 1;
    if (isClosed) throw new NodeUnreachable(to, false, 'this node is stopping');
    const socket = await parts.dial(to).catch((cause: unknown) => {
      throw new NodeUnreachable(to, false, cause);
    });
    const link = openLinkReceiver({
      ...parts,
      to,
      socket,
      ended() {
        open.delete(link);
        peer.link = undefined;
      },
    });
    open.add(link);
    if (isClosed) link.close();
    return link;
  }

  function linkTo(to: NodeAddress): Promise<LinkReceiver> {
    const peer = peerOf(to);
    peer.link ??= dial(to, peer).catch((error: unknown) => {
      peer.link = undefined;
      throw error;
    });
    return peer.link;
  }

  return {
    follow: (to, feed, request) =>
      followFeed({
        opened: (received) => linkTo(to).then((link) => link.open(feed, request(), received)),
        delivered: () => void (peerOf(to).failures = 0),
      }),
    async close() {
      isClosed = true;
      for (const link of open) link.close();
    },
  };
}

function waitAfter(failures: number, setTimer: SetTimer): Promise<void> {
  if (failures === 0) return Promise.resolve();
  const delays = linkLimits.retryDelaysMs;
  const delayMs = delays[failures - 1] ?? delays.at(-1) ?? 0;
  return new Promise((resolve) => void setTimer(resolve, delayMs));
}

/** The feed is opened when the function is called, and read later. */
function followFeed(parts: {
  readonly opened: (received: ReceivedFeed) => Promise<OpenFeed>;
  readonly delivered: () => void;
}): FollowedFeed {
  const received: ReceivedFeed = { waiting: [], end: undefined, wake: () => undefined };
  let feed: OpenFeed | undefined;
  let isClosed = false;
  const opening = parts.opened(received).then((opened) => {
    if (isClosed) return opened.end();
    feed = opened;
  });
  // The reader gets it.
  opening.catch(() => undefined);

  function close(): void {
    isClosed = true;
    received.waiting.length = 0;
    received.end ??= null;
    feed?.end();
    received.wake();
  }

  async function* read(): AsyncGenerator {
    try {
      await opening;
      for (;;) {
        const next = received.waiting.shift();
        if (next !== undefined) {
          parts.delivered();
          feed?.taken(next.cost);
          yield next.item;
        } else if (received.end === undefined) {
          await new Promise<void>((resolve) => (received.wake = resolve));
        } else if (received.end === null) return;
        else throw received.end;
      }
    } finally {
      close();
    }
  }

  const messages = read();
  return {
    [Symbol.asyncIterator]: () => messages,
    change(request) {
      feed?.change(request);
    },
    close,
  };
}

// Link receiver: the end of a link that follows feeds, and keeps of each what was not read yet.

/** One feed, as the link delivers it. */
interface ReceivedFeed {
  /** Messages that were not read, with what they count in the window. */
  readonly waiting: { readonly item: unknown; readonly cost: number }[];
  /** Why no further message comes; null when the feed is over. */
  end: Error | null | undefined;
  /** Called when there is something new. */
  wake: () => void;
}

interface LinkReceiver {
  open(name: string, request: unknown, feed: ReceivedFeed): OpenFeed;
  close(): void;
}

function openLinkReceiver(parts: {
  readonly to: NodeAddress;
  readonly socket: LinkSocket;
  /** The link can no longer be used. Called once. */
  readonly ended: () => void;
  readonly setTimer: SetTimer;
  readonly setRepeatingTimer: SetTimer;
}): LinkReceiver {
  const { to, socket, setRepeatingTimer, setTimer, ended } = parts;
  const feeds = new Map<number, ReceivedFeed>();
  let opened = 0;
  let stopIdle: (() => void) | undefined;

  function finish(id: number, end: Error | null): void {
    const feed = feeds.get(id);
    if (feed === undefined || !feeds.delete(id)) return;
    feed.end = end;
    feed.wake();
    closeWhenIdle();
  }

  function closeWhenIdle(): void {
    if (feeds.size > 0) return;
    stopIdle?.();
    stopIdle = setTimer(() => channel.close('the link is idle'), linkLimits.idleMs);
  }

  const channel = openLinkChannel({
    socket,
    setRepeatingTimer,
    received([kind, id, value]: LinkMessage, cost) {
      if (kind === 'done') return finish(id, value === undefined ? null : feedErrorOf(value));
      const feed = feeds.get(id);
      if (kind !== 'item' || feed === undefined) return;
      feed.waiting.push({ item: value ?? null, cost });
      feed.wake();
    },
    broken(reason) {
      stopIdle?.();
      ended();
      for (const id of feeds.keys()) finish(id, new NodeUnreachable(to, true, reason));
    },
  });

  return {
    open(name, request, feed) {
      stopIdle?.();
      const id = (opened += 1);
      feeds.set(id, feed);
      channel.send(['open', id, { name, request }]);
      return new OpenFeed(id, channel, () => finish(id, null));
    },
    close: () => channel.close('this node is stopping'),
  };
}

class OpenFeed {
  readonly #id: number;
  readonly #channel: LinkChannel;
  readonly #finish: () => void;
  #taken = 0;

  constructor(id: number, channel: LinkChannel, finish: () => void) {
    this.#id = id;
    this.#channel = channel;
    this.#finish = finish;
  }

  change(request: unknown): void {
    this.#channel.send(['change', this.#id, request]);
  }

  /** Call with the cost of each message that was read. */
  taken(cost: number): void {
    this.#taken += cost;
    if (this.#taken < linkLimits.takenBytes) return;
    this.#channel.send(['take', this.#id, this.#taken]);
    this.#taken = 0;
  }

  end(): void {
    this.#channel.send(['end', this.#id]);
    this.#finish();
  }
}
