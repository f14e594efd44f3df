// Links of one process: the conformance suite, and messages that are lost or doubled.
import { expect, test } from 'vitest';
import { setRepeatingTimer, setTimer } from '../../../structures/timers.ts';
import { linksMustBehave } from '../conformance/links.conformance.ts';
import { type Carried, LinkSwitch } from './in-process-links.ts';
import type { FeedHandler, FeedHandlers } from './links.ts';

function openPair(feeds: FeedHandlers, carry: () => Carried = () => 1) {
  const failed = () => undefined;
  const linkSwitch = new LinkSwitch({ carry, setTimer, setRepeatingTimer, failed });
  const disconnect = linkSwitch.connect('b', feeds);
  return {
    links: linkSwitch.linksOf('a'),
    to: { id: 'b', url: 'http://b' },
    cut: linkSwitch.cut,
    stop: () => linkSwitch.stop('b'),
    disconnect,
  };
}

linksMustBehave(async (feeds) => openPair(feeds));

async function* countTo({ request }: { readonly request: unknown }): AsyncGenerator<number> {
  for (let n = 0; n < Number(request); n++) yield n;
}

test.each<[string, Carried]>([
  ['lost', 0],
  ['doubled', 2],
])('a reader that follows again gets each message once when messages are %s', async (_, fault) => {
  let message = 0;
  const feeds: FeedHandlers = new Map([['count', ({ request }) => from(Number(request))]]);
  async function* from(first: number): AsyncGenerator<number> {
    for (let n = first; n < 300; n++) yield n;
  }
  const { links, to } = openPair(feeds, () => (++message % 97 === 0 ? fault : 1));
  const found: unknown[] = [];
  while (found.length < 300)
    try {
      for await (const item of links.follow(to, 'count', () => found.length)) found.push(item);
    } catch (error) {
      expect(error).toHaveProperty('name', 'NodeUnreachable');
    }
  expect(found).toEqual(Array.from({ length: 300 }, (_each, n) => n));
  await links.close();
});

test('a link has a limit of feeds', async () => {
  const feeds = new Map<string, FeedHandler>([
    ['wait', ({ signal }) => wait(signal)],
    ['count', countTo],
  ]);
  async function* wait(signal: AbortSignal): AsyncGenerator<number> {
    yield 1;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }
  const { links, to } = openPair(feeds);
  const open = Array.from({ length: 256 }, () => links.follow(to, 'wait', () => 0));
  for (const feed of open) await feed[Symbol.asyncIterator]().next();
  const refused = links.follow(to, 'count', () => 3)[Symbol.asyncIterator]();
  await expect(refused.next()).rejects.toThrow('More than 256 feeds');
  open[0]?.close();
  const taken = links.follow(to, 'count', () => 3)[Symbol.asyncIterator]();
  expect(await taken.next()).toMatchObject({ value: 0 });
  await links.close();
});
