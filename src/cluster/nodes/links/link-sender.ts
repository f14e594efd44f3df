// Link sender: the end of a link that sends feeds, each as fast as its follower takes it.
import type { SetTimer } from '../../../structures/timers.ts';
import { Problem } from '../../../model/problem.ts';
import {
  feedErrorToJson,
  type LinkChannel,
  type LinkMessage,
  type LinkSocket,
  openLinkChannel,
} from './link-channel.ts';
import { type FeedHandlers, linkLimits, type OpenedFeed } from './links.ts';

interface LinkSenderParts {
  readonly socket: LinkSocket;
  /** Id of the node that follows. */
  readonly from: string;
  readonly feeds: FeedHandlers;
  /** Reports a feed that failed, other than by a Problem. */
  readonly failed: (feed: string, error: unknown) => void;
  readonly setRepeatingTimer: SetTimer;
}

export interface LinkSender {
  /** Ends the link. Resolves when no feed works any longer. */
  close(): Promise<void>;
}

interface SentFeed {
  readonly name: string;
  readonly opened: OpenedFeed;
  readonly abort: AbortController;
  /** Bytes that may be sent now. */
  window: number;
  mayGoOn: PromiseWithResolvers<void>;
  changes: unknown[];
  listener: ((request: unknown) => void) | undefined;
  done: Promise<void>;
}

export function openLinkSender(parts: LinkSenderParts): LinkSender {
  const { socket, setRepeatingTimer } = parts;
  const feeds = new Map<number, SentFeed>();
  const channel = openLinkChannel({
    socket,
    setRepeatingTimer,
    received: (message) => receive(message, parts, feeds, channel),
    broken() {
      for (const feed of feeds.values()) endFeed(feed);
    },
  });
  return {
    async close() {
      channel.close('the node is stopping');
      await Promise.all([...feeds.values()].map(({ done }) => done));
    },
  };
}

function receive(
  [kind, id, value = null]: LinkMessage,
  parts: LinkSenderParts,
  feeds: Map<number, SentFeed>,
  channel: LinkChannel,
): void {
  if (kind === 'open') return openFeed([id, value], parts, feeds, channel);
  const feed = feeds.get(id);
  // The follower sent it before it knew that the feed is over.
  if (feed === undefined) return;
  if (kind === 'end') endFeed(feed);
  else if (kind === 'take') {
    feed.window += Number(value);
    if (feed.window > 0) feed.mayGoOn.resolve();
  } else if (kind === 'change') {
    if (feed.listener === undefined) feed.changes.push(value);
    else feed.listener(value);
  }
}

function openFeed(
  [id, value]: readonly [id: number, value: unknown],
  parts: LinkSenderParts,
  feeds: Map<number, SentFeed>,
  channel: LinkChannel,
): void {
  const { name, request } = value as { readonly name: string; readonly request: unknown };
  const feed = newFeed(name, request, parts.from);
  feeds.set(id, feed);
  feed.done = sendFeed(feed, parts, feeds.size, (item) => {
    feed.window -= channel.send(['item', id, item]);
  })
    .then(
      () => void channel.send(['done', id]),
      (error: unknown) => void channel.send(['done', id, feedErrorToJson(error)]),
    )
    .finally(() => feeds.delete(id));
}

function newFeed(name: string, request: unknown, from: string): SentFeed {
  const abort = new AbortController();
  const feed: SentFeed = {
    name,
    abort,
    window: linkLimits.windowBytes,
    mayGoOn: Promise.withResolvers<void>(),
    changes: [],
    listener: undefined,
    done: Promise.resolve(),
    opened: {
      request,
      from,
      signal: abort.signal,
      onChange(listener) {
        feed.listener = listener;
        for (const change of feed.changes.splice(0)) listener(change);
      },
    },
  };
  return feed;
}

async function sendFeed(
  feed: SentFeed,
  { feeds: offered, failed }: LinkSenderParts,
  open: number,
  send: (item: unknown) => void,
): Promise<void> {
  const { name, opened, abort } = feed;
  try {
    if (open > linkLimits.feedsMax)
      throw new Error(`More than ${linkLimits.feedsMax} feeds of one link`);
    const handler = offered.get(name);
    if (handler === undefined) throw new Error(`Unknown feed: ${name}`);
    for await (const item of handler(opened)) {
      if (abort.signal.aborted) return;
      send(item);
      if (feed.window > 0) continue;
      feed.mayGoOn = Promise.withResolvers<void>();
      await feed.mayGoOn.promise;
      if (abort.signal.aborted) return;
    }
  } catch (error) {
    if (abort.signal.aborted) return;
    if (!(error instanceof Problem)) failed(name, error);
    throw error;
  }
}

function endFeed({ abort, mayGoOn }: SentFeed): void {
  abort.abort();
  mayGoOn.resolve();
}
