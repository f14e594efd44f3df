// Feeds: followed through a proxy that cuts and stops, by slow readers, and by connections without the secret.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { NodeAddress } from '../../model/node-messages.ts';
import { problem } from '../../model/problem.ts';
import { emptyDigest, NodeSigner } from './cluster-secret.ts';
import { NodeUnreachable } from './nodes.ts';
import { createConnectionDialer } from './http/dialed-connections.ts';
import { type FeedHandler, type FeedHandlers, feedLimits, Feeds } from './feeds.ts';
import { InternalPort } from './http/internal-port.ts';

const secret = 'a long and random secret of the tests 0123456789';
const closers: (() => unknown)[] = [];
const refusals: string[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function portOf(feeds: FeedHandlers) {
  const port = new InternalPort({
    id: 'b',
    secret,
    feeds,
    handlers: new Map(),
    servesMqtt: () => true,
    acceptMqtt: (socket) => void socket.destroy(),
    holds: () => true,
    failed: () => undefined,
    serve: (_, response) => void response.end(),
    refused: (address) => void refusals.push(address),
  });
  closers.push(() => port.close());
  return port;
}

async function startProxy(target: number) {
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    upstream.pipe(client).pipe(upstream);
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  function cut() {
    for (const socket of sockets) socket.destroy();
  }
  closers.push(() => {
    cut();
    proxy.close();
  });
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut,
    stop() {
      for (const socket of sockets) socket.unpipe().pause();
    },
  };
}

interface Pair {
  /** Of the node `a`. */
  readonly feeds: Feeds;
  readonly to: NodeAddress;
  /** Breaks the connections there are. */
  cut(): void;
  /** Nothing more comes from the other node, although the connections are open. */
  stop(): void;
  /** Closes the other node. */
  disconnect(): Promise<void>;
}

async function openPair(handlers: FeedHandlers): Promise<Pair> {
  const port = portOf(handlers);
  const proxy = await startProxy(await port.listen({ host: '127.0.0.1', port: 0 }));
  const feeds = new Feeds(createConnectionDialer({ id: 'a', secret }));
  closers.push(() => feeds.close());
  return { ...proxy, feeds, to: { id: 'b', url: proxy.url }, disconnect: () => port.close() };
}

interface Offered {
  readonly pair: Pair;
  /** Messages that the other node was asked for. */
  readonly sent: () => number;
  readonly ended: string[];
}

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
  const pair = await openPair(new Map(Object.entries({ count, changes, refuse, fail })));
  return { pair, sent: () => sent, ended };
}

async function read(feed: AsyncIterable<unknown>, max = Infinity): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const item of feed) if (found.push(item) >= max) break;
  return found;
}

test('a feed arrives in order and ends', async () => {
  const { pair } = await offered();
  const { feeds, to } = pair;
  const two = [0, 1000].map((from) => feeds.follow(to, 'count', () => ({ from, to: from + 500 })));
  const [first = [], second = []] = await Promise.all(two.map((feed) => read(feed)));
  expect(first).toEqual(Array.from({ length: 500 }, (_, n) => n));
  expect(second).toEqual(Array.from({ length: 500 }, (_, n) => 1000 + n));
  feeds.close();
});

test('changes of the request arrive in order, with the id of the follower', async () => {
  const { pair, ended } = await offered();
  const { feeds, to } = pair;
  let wanted = 'before the connection is open';
  const feed = feeds.follow(to, 'changes', () => wanted);
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
  feeds.close();
});

test('a slow reader stops the sender, and loses nothing', async () => {
  const { pair, sent } = await offered();
  const { feeds, to } = pair;
  const padding = 'x'.repeat(100_000);
  const feed = feeds.follow(to, 'count', () => ({ from: 0, to: 1_000, padding }));
  // Sockets take some of it, and then no more.
  let before = -1;
  const isHeld = () => {
    const isSame = sent() === before;
    before = sent();
    return isSame && before > 1;
  };
  await expect.poll(isHeld, { interval: 300 }).toBe(true);
  expect(sent()).toBeLessThan(900);
  // Another feed is not held up.
  expect(await read(feeds.follow(to, 'count', () => ({ from: 0, to: 3 })))).toEqual([0, 1, 2]);
  expect(await read(feed)).toHaveLength(1_000);
  feeds.close();
});

test.each([
  ['refuse', { problem: 'cursorTooOld', details: { oldest: '7' } }],
  ['fail', { message: 'the feed failed' }],
  ['unknown', { message: 'Unknown feed: unknown' }],
])('the feed %s ends with its error', async (name, error) => {
  const { pair } = await offered();
  await expect(read(pair.feeds.follow(pair.to, name, () => null))).rejects.toMatchObject(error);
  pair.feeds.close();
});

test('a connection that breaks ends its feed, and a new one is opened', async () => {
  const { pair, ended } = await offered();
  const { feeds, to } = pair;
  const feed = feeds.follow(to, 'changes', () => 1)[Symbol.asyncIterator]();
  await feed.next();
  pair.cut();
  await expect(feed.next()).rejects.toBeInstanceOf(NodeUnreachable);
  await expect.poll(() => ended).toEqual(['changes']);
  expect(await read(feeds.follow(to, 'count', () => ({ from: 5, to: 7 })))).toEqual([5, 6]);
  feeds.close();
});

test('a reader that stops ends the feed at the sender', async () => {
  const { pair, ended } = await offered();
  const { feeds, to } = pair;
  expect(
    await read(
      feeds.follow(to, 'count', () => ({ from: 0, to: 1e9 })),
      3,
    ),
  ).toEqual([0, 1, 2]);
  await expect.poll(() => ended).toEqual(['count']);
  feeds.close();
});

test('a peer that stops is noticed', async () => {
  const { pair } = await offered();
  const { feeds, to } = pair;
  const feed = feeds.follow(to, 'changes', () => 1)[Symbol.asyncIterator]();
  await feed.next();
  pair.stop();
  await expect(feed.next()).rejects.toBeInstanceOf(NodeUnreachable);
  feeds.close();
}, 15_000);

test('a node that is gone is unreachable, and closing it ends the feeds', async () => {
  const { pair, ended } = await offered();
  const { feeds, to } = pair;
  const feed = feeds.follow(to, 'changes', () => 1)[Symbol.asyncIterator]();
  await feed.next();
  await pair.disconnect();
  expect(ended).toEqual(['changes']);
  await expect(feed.next()).rejects.toBeInstanceOf(NodeUnreachable);
  await expect(read(feeds.follow(to, 'count', () => null))).rejects.toBeInstanceOf(NodeUnreachable);
  feeds.close();
});

test('a follower that closes ends its feeds at the sender', async () => {
  const { pair, ended } = await offered();
  const feed = pair.feeds.follow(pair.to, 'changes', () => 1)[Symbol.asyncIterator]();
  await feed.next();
  pair.feeds.close();
  await expect(feed.next()).rejects.toBeInstanceOf(NodeUnreachable);
  await expect.poll(() => ended).toEqual(['changes']);
});

test('a node has a limit of feeds of one name for each follower', async () => {
  async function* wait({ signal }: Parameters<FeedHandler>[0]): AsyncGenerator<number> {
    yield 1;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }
  async function* count(): AsyncGenerator<number> {
    yield 0;
  }
  const { feeds, to } = await openPair(new Map(Object.entries({ wait, count })));
  const open = Array.from({ length: feedLimits.feedsMax }, () => feeds.follow(to, 'wait', () => 0));
  await Promise.all(open.map((feed) => feed[Symbol.asyncIterator]().next()));
  const refused = feeds.follow(to, 'wait', () => 3)[Symbol.asyncIterator]();
  await expect(refused.next()).rejects.toThrow('More than 256 feeds');
  expect(await read(feeds.follow(to, 'count', () => 3))).toEqual([0]);
  open[0]?.close();
  const taken = async () => {
    const messages = feeds.follow(to, 'wait', () => 3)[Symbol.asyncIterator]();
    return messages.next().catch(() => undefined);
  };
  await expect.poll(taken).toMatchObject({ value: 1 });
});

function signed(path: string, to: string, run = ''): string {
  const signer = new NodeSigner(secret, Date.now);
  signer.meet(to, run);
  const asked = { method: 'GET', path, from: 'a', to, about: '' };
  return signer.sign({ ...asked, digest: emptyDigest });
}
const headersOf = (signature: string) => ({
  'heliograph-node': 'a',
  'heliograph-node-signature': signature,
});

test.each<[string, string, (run: string) => object]>([
  ['without a signature', '/node/feeds', () => ({})],
  ['with the secret itself', '/node/feeds', () => headersOf(secret)],
  ['signed for another path', '/node/feeds', (run) => headersOf(signed('/node/feed', 'b', run))],
  ['signed for another node', '/node/feeds', (run) => headersOf(signed('/node/feeds', 'c', run))],
  ['to another path', '/v3/streams', (run) => headersOf(signed('/v3/streams', 'b', run))],
])('a connection %s is refused and reported', async (_, path, headers) => {
  const port = await portOf(new Map()).listen({ host: '127.0.0.1', port: 0 });
  const url = `127.0.0.1:${port}${path}`;
  const told = await fetch(`http://${url}`, { headers: headersOf(signed(path, 'b')) });
  const run = told.headers.get('heliograph-node-run') ?? '';
  expect([run === '', refusals]).toEqual([false, []]);
  const asked = request(`http://${url}`, {
    headers: { connection: 'Upgrade', upgrade: 'bytes', ...headers(run) },
  }).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(401);
  expect(refusals.pop()).toBe('127.0.0.1');
});
