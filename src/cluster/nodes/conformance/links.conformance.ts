// Links: what every implementation must do, also with lost messages, a slow reader or a peer that stops.
import { expect, test } from 'vitest';
import type { NodeAddress } from '../../../model/node-messages.ts';
import { problem } from '../../../model/problem.ts';
import { type FeedHandler, type FeedHandlers, linkLimits, type Links } from '../links/links.ts';
import { NodeUnreachable } from '../nodes.ts';

interface LinkPair {
  /** Of the node `a`. */
  readonly links: Links;
  readonly to: NodeAddress;
  /** Breaks the connections there are. */
  cut(): void;
  /** Nothing more comes from the other node, although the connections are open. */
  stop(): void;
  /** Closes the other node. */
  disconnect(): Promise<void>;
}

interface Offered {
  readonly pair: LinkPair;
  /** Messages that the other node was asked for. */
  readonly sent: () => number;
  readonly ended: string[];
}

export function linksMustBehave(open: (feeds: FeedHandlers) => Promise<LinkPair>): void {
  async function offered(): Promise<Offered> {
    const ended: string[] = [];
    let sent = 0;
    async function* count({ request, signal }: Parameters<FeedHandler>[0]): AsyncGenerator {
      const { from, to, padding = '' } = request as { from: number; to: number; padding?: string };
      try {
        for (let n = from; n < to && !signal.aborted; n++) {
          sent += 1;
          yield padding === '' ? n : { n, padding };
        }
      } finally {
        ended.push('count');
      }
    }
    async function* changes({ request, from, signal, onChange }: Parameters<FeedHandler>[0]) {
      const waiting: unknown[] = [{ request, from }];
      let wake: () => void = () => undefined;
      onChange((change) => {
        waiting.push(change);
        wake();
      });
      signal.addEventListener('abort', () => wake());
      while (!signal.aborted) {
        const next = waiting.shift();
        if (next === undefined) await new Promise<void>((resolve) => (wake = resolve));
        else yield next;
      }
      ended.push('changes');
    }
    async function* refuse(): AsyncGenerator {
      yield 1;
      throw problem('cursorTooOld', { oldest: '7' });
    }
    async function* fail(): AsyncGenerator {
      yield* [];
      throw new Error('the feed failed');
    }
    const pair = await open(new Map(Object.entries({ count, changes, refuse, fail })));
    return { pair, sent: () => sent, ended };
  }

  async function read(feed: AsyncIterable<unknown>, max = Infinity): Promise<unknown[]> {
    const found: unknown[] = [];
    for await (const item of feed) if (found.push(item) >= max) break;
    return found;
  }

  test('a feed arrives in order and ends', async () => {
    const { pair } = await offered();
    const { links, to } = pair;
    const feeds = [0, 1000].map((from) =>
      links.follow(to, 'count', () => ({ from, to: from + 500 })),
    );
    const [first = [], second = []] = await Promise.all(feeds.map((feed) => read(feed)));
    expect(first).toEqual(Array.from({ length: 500 }, (_, n) => n));
    expect(second).toEqual(Array.from({ length: 500 }, (_, n) => 1000 + n));
    await links.close();
  });

  test('changes of the request arrive in order, with the id of the follower', async () => {
    const { pair, ended } = await offered();
    const { links, to } = pair;
    let wanted = 'before the link is open';
    const feed = links.follow(to, 'changes', () => wanted);
    wanted = 'first';
    // The request includes it.
    feed.change('first');
    const messages = feed[Symbol.asyncIterator]();
    expect((await messages.next()).value).toEqual({ request: 'first', from: 'a' });
    feed.change('second');
    expect((await messages.next()).value).toBe('second');
    feed.change('third');
    expect((await messages.next()).value).toBe('third');
    feed.close();
    expect(await messages.next()).toMatchObject({ done: true });
    await expect.poll(() => ended).toEqual(['changes']);
    await links.close();
  });

  test('a slow reader stops the sender, and loses nothing', async () => {
    const { pair, sent } = await offered();
    const { links, to } = pair;
    const padding = 'x'.repeat(10_000);
    const feed = links.follow(to, 'count', () => ({ from: 0, to: 400, padding }));
    const held = Math.ceil(linkLimits.windowBytes / (padding.length + linkLimits.messageCost)) + 1;
    await expect.poll(sent).toBeGreaterThanOrEqual(held - 2);
    // Another feed of the link is not held up.
    expect(await read(links.follow(to, 'count', () => ({ from: 0, to: 3 })))).toEqual([0, 1, 2]);
    expect(sent()).toBeLessThanOrEqual(held + 3);
    expect(await read(feed)).toHaveLength(400);
    await links.close();
  });

  test.each([
    ['refuse', { problem: 'cursorTooOld', details: { oldest: '7' } }],
    ['fail', { message: 'the feed failed' }],
    ['unknown', { message: 'Unknown feed: unknown' }],
  ])('the feed %s ends with its error', async (name, error) => {
    const { pair } = await offered();
    await expect(read(pair.links.follow(pair.to, name, () => null))).rejects.toMatchObject(error);
    await pair.links.close();
  });

  test('a link that breaks ends its feeds, and a new one is opened', async () => {
    const { pair, ended } = await offered();
    const { links, to } = pair;
    const feed = links.follow(to, 'changes', () => 1)[Symbol.asyncIterator]();
    await feed.next();
    pair.cut();
    await expect(feed.next()).rejects.toBeInstanceOf(NodeUnreachable);
    await expect.poll(() => ended).toEqual(['changes']);
    expect(await read(links.follow(to, 'count', () => ({ from: 5, to: 7 })))).toEqual([5, 6]);
    await links.close();
  });

  test('a reader that stops ends the feed at the sender', async () => {
    const { pair, ended } = await offered();
    const { links, to } = pair;
    expect(
      await read(
        links.follow(to, 'count', () => ({ from: 0, to: 1e9 })),
        3,
      ),
    ).toEqual([0, 1, 2]);
    await expect.poll(() => ended).toEqual(['count']);
    await links.close();
  });

  test('a peer that stops is noticed', async () => {
    const { pair } = await offered();
    const { links, to } = pair;
    const feed = links.follow(to, 'changes', () => 1)[Symbol.asyncIterator]();
    await feed.next();
    pair.stop();
    await expect(feed.next()).rejects.toBeInstanceOf(NodeUnreachable);
    await links.close();
  }, 15_000);

  test('a node that is gone is unreachable, and closing it ends the feeds', async () => {
    const { pair, ended } = await offered();
    const { links, to } = pair;
    const feed = links.follow(to, 'changes', () => 1)[Symbol.asyncIterator]();
    await feed.next();
    await pair.disconnect();
    expect(ended).toEqual(['changes']);
    await expect(feed.next()).rejects.toBeInstanceOf(NodeUnreachable);
    await expect(read(links.follow(to, 'count', () => null))).rejects.toBeInstanceOf(
      NodeUnreachable,
    );
    await links.close();
  });

  test('a follower that closes ends its feeds at the sender', async () => {
    const { pair, ended } = await offered();
    const feed = pair.links.follow(pair.to, 'changes', () => 1)[Symbol.asyncIterator]();
    await feed.next();
    await pair.links.close();
    await expect(feed.next()).rejects.toBeInstanceOf(NodeUnreachable);
    await expect.poll(() => ended).toEqual(['changes']);
  });
}
