// Hand-over: what a partition leaves arrives at the next owner, and does not replace what is newer there.
import { expect, test } from 'vitest';
import { type MessageHandler, partitionOf } from '../../../model/node-messages.ts';
import { Retained, type RetainedMessage } from '../mqtt-retained.ts';
import { SessionStore } from '../mqtt-session.ts';
import { createHandOver } from './owner-node.ts';

const filter = { direction: 'up', levels: ['#'] } as const;
const kept = { subscriptions: [], halfReceived: [1], keptAt: 0, until: 1_000 };
const messageOf = (text: string, name = 'state'): RetainedMessage => ({
  levels: [name],
  payload: Buffer.from(text),
  qos: 1,
});

/** Two nodes: what the first one sends goes through JSON to the second. */
function nodes() {
  const [first, second] = [1, 2].map(() => ({
    retained: new Retained(),
    store: new SessionStore(() => 0),
  }));
  if (first === undefined || second === undefined) throw new Error('two nodes');
  let take: MessageHandler = () => Promise.reject(new Error('not there yet'));
  const failures: unknown[] = [];
  const failed = (error: unknown) => void failures.push(error);
  const sizes: number[] = [];
  createHandOver({
    ...second,
    failed,
    messages: { handle: (_, handler) => void (take = handler), toOwner: async () => null },
  });
  const give = createHandOver({
    ...first,
    failed,
    messages: {
      handle: () => undefined,
      async toOwner(_, { request }): Promise<unknown> {
        const text = JSON.stringify(request);
        sizes.push(text.length);
        return take(JSON.parse(text) as unknown, 'first');
      },
    },
  });
  return { first, second, give, failures, sizes };
}

test('retained messages and kept sessions arrive, and only those of lost partitions', async () => {
  const { first, second, give, failures } = nodes();
  const other = ['b', 'c', 'd'].find((id) => partitionOf(id) !== partitionOf('a')) ?? '';
  first.retained.keep('a', 'up', messageOf('1'));
  first.retained.keep(other, 'up', messageOf('2'));
  first.store.set('a', kept);
  give(new Set([partitionOf('a')]));
  await expect.poll(() => second.store.size).toBe(1);
  expect(second.retained.of('a', filter)).toMatchObject([messageOf('1')]);
  expect(second.store.get('a')).toEqual(kept);
  expect(first.retained.of('a', filter)).toEqual([]);
  expect(first.store.size).toBe(0);
  expect(first.retained.of(other, filter)).toHaveLength(1);
  expect(failures).toEqual([]);
});

test('what came to the next owner first is newer', async () => {
  const { first, second, give } = nodes();
  first.retained.keep('a', 'up', messageOf('old'));
  first.retained.keep('a', 'up', messageOf('kept', 'other'));
  second.retained.keep('a', 'up', messageOf('new'));
  give(new Set([partitionOf('a')]));
  await expect.poll(() => second.retained.of('a', filter).length).toBe(2);
  const texts = second.retained.of('a', filter).map(({ payload }) => payload.toString());
  expect(texts.toSorted()).toEqual(['kept', 'new']);
});

test('much is sent in parts', async () => {
  const { first, second, give, sizes } = nodes();
  const text = 'x'.repeat(100_000);
  for (let n = 0; n < 10; n++) first.retained.keep('a', 'up', messageOf(text, `${n}`));
  give(new Set([partitionOf('a')]));
  await expect.poll(() => second.retained.of('a', filter).length).toBe(10);
  expect(sizes.length).toBeGreaterThan(3);
  expect(Math.max(...sizes)).toBeLessThan(1024 * 1024);
});
