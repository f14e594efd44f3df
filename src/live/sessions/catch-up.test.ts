// Live stream resume (contract: decisions and section 35): subscribed, then the replay, then live; no gap, no repetition.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FanOut } from './fan-out.ts';
import { liveLimits } from './live-limits.ts';
import {
  cursorOf,
  openTestSession,
  type Received,
  type TestLog,
  testLog,
  testFanOut,
} from './testing-session.ts';

const numbersIn = (messages: readonly Received[]) =>
  messages.filter(({ type }) => type === 'sample_insert').map(({ cursor }) => Number(cursor));

/** Stores and publishes. */
function insert(
  log: TestLog,
  fanOut: FanOut,
  count: number,
  deviceId = '02a',
  topic?: string,
): void {
  for (let i = 0; i < count; i++) fanOut.publish([log.store(deviceId, topic)], 0);
}

function world(batchSize?: number) {
  const log = testLog(batchSize);
  const fanOut = testFanOut();
  return Object.assign(openTestSession({ log, fanOut }), { log, fanOut });
}

describe('since', () => {
  test('a cursor: subscribed, what was stored after it, then live', async () => {
    const { log, fanOut, send, settle } = world();
    insert(log, fanOut, 5);
    const first = await send({
      type: 'subscribe',
      since: cursorOf(2),
      subscriptions: [{ assetId: '02a' }],
    });
    expect(first[0]!.type).toBe('subscribed');
    expect(numbersIn(first)).toEqual([3, 4, 5]);
    insert(log, fanOut, 2);
    expect(numbersIn(await settle())).toEqual([6, 7]);
  });

  test('an ISO time compares the time of storing', async () => {
    const { log, fanOut, send } = world();
    insert(log, fanOut, 5);
    const since = new Date(log.samples[3]!.storedAt).toISOString();
    expect(
      numbersIn(await send({ type: 'subscribe', since, subscriptions: [{ assetId: '02a' }] })),
    ).toEqual([4, 5]);
  });

  test('the since of an item wins over that of the message', async () => {
    const { log, fanOut, send } = world();
    for (let i = 0; i < 3; i++) for (const device of ['02a', '02b']) insert(log, fanOut, 1, device);
    const subscriptions = [{ assetId: '02a', since: cursorOf(4) }, { assetId: '02b' }];
    expect(numbersIn(await send({ type: 'subscribe', since: cursorOf(1), subscriptions }))).toEqual(
      [2, 4, 5, 6],
    );
  });

  test('a cursor and a time in one message are replayed as one, in the order of storing', async () => {
    const { log, fanOut, send } = world(3);
    for (let i = 0; i < 4; i++) for (const device of ['02a', '02b']) insert(log, fanOut, 1, device);
    const since = new Date(log.samples[4]!.storedAt).toISOString();
    const subscriptions = [
      { assetId: '02a', since: cursorOf(1) },
      { assetId: '02b', since },
      { assetId: '02a', topic: '*', since },
    ];
    expect(numbersIn(await send({ type: 'subscribe', subscriptions }))).toEqual([3, 5, 6, 7, 8]);
  });

  test('a sample published late, after the replay had it, is not repeated', async () => {
    const { log, fanOut, send, settle } = world();
    const late = [log.store('02a'), log.store('02a')];
    expect(
      numbersIn(
        await send({ type: 'subscribe', since: cursorOf(0), subscriptions: [{ assetId: '02a' }] }),
      ),
    ).toEqual([1, 2]);
    fanOut.publish(late, 0);
    insert(log, fanOut, 1);
    expect(numbersIn(await settle())).toEqual([3]);
  });

  test('a sample the client has from elsewhere is not sent when it is published only now', async () => {
    const { log, fanOut, send, settle } = world();
    const late = log.store('02a');
    await send({ type: 'subscribe', since: cursorOf(1), subscriptions: [{ assetId: '02a' }] });
    fanOut.publish([late], 0);
    insert(log, fanOut, 1);
    expect(numbersIn(await settle())).toEqual([2]);
  });

  test('a replay that begins later does not swallow what an older subscription is owed and is published only now', async () => {
    const { log, fanOut, send } = world();
    const got = await send({
      type: 'subscribe',
      since: cursorOf(0),
      subscriptions: [{ assetId: '02a' }],
    });
    const late = [log.store('02a'), log.store('02a')];
    got.push(
      ...(await send({
        type: 'subscribe',
        since: cursorOf(1),
        subscriptions: [{ assetId: '02a' }],
      })),
    );
    fanOut.publish(late, 0);
    got.push(...(await send({ type: 'ping' })));
    expect(numbersIn(got)).toEqual([1, 2]);
  });

  for (const since of [cursorOf(900), '2999-01-01'])
    test(`since ${since} lies ahead: nothing is replayed, and what is stored from now on is live`, async () => {
      const { log, fanOut, send, settle } = world();
      insert(log, fanOut, 2);
      expect(
        await send({ type: 'subscribe', since, subscriptions: [{ assetId: '02a' }] }),
      ).toHaveLength(1);
      fanOut.publish([{ ...log.store('02a'), storedAt: 1_900_000_000_000 }], 0);
      expect(numbersIn(await settle())).toEqual([3]);
    });

  for (const [where, message] of [
    ['the message', { since: 'zzz', subscriptions: [{ assetId: '02a' }] }],
    [
      'an item',
      { subscriptions: [{ assetId: '02a' }, { assetId: '02b', since: '00000000000001' }] },
    ],
  ] as const)
    test(`review behaviour 31: a since of ${where} that is neither cursor nor time applies nothing`, async () => {
      const { log, fanOut, send, settle, session } = world();
      const [error, ...more] = await send({ type: 'subscribe', id: 4, ...message });
      expect(error).toMatchObject({ type: 'error', replyTo: 4, errorCode: 'INVALID_SUBSCRIPTION' });
      expect([more, session.subscriptions]).toEqual([[], 0]);
      insert(log, fanOut, 1);
      expect(await settle()).toEqual([]);
    });

  test('repeating with an older since sends only what was not sent', async () => {
    const { log, fanOut, send, settle } = world();
    insert(log, fanOut, 3);
    await send({ type: 'subscribe', subscriptions: [{ assetId: '02a' }] });
    insert(log, fanOut, 2);
    expect(numbersIn(await settle())).toEqual([4, 5]);
    expect(
      numbersIn(
        await send({ type: 'subscribe', since: cursorOf(1), subscriptions: [{ assetId: '02a' }] }),
      ),
    ).toEqual([2, 3]);
    expect(
      numbersIn(
        await send({ type: 'subscribe', since: cursorOf(0), subscriptions: [{ assetId: '02a' }] }),
      ),
    ).toEqual([1]);
  });

  test('a replay of one topic does not repeat what the subscription to all topics sent', async () => {
    const { log, fanOut, send, settle } = world();
    insert(log, fanOut, 2);
    await send({ type: 'subscribe', subscriptions: [{ assetId: '02a', topic: '*' }] });
    insert(log, fanOut, 1);
    insert(log, fanOut, 1, '02a', 'door');
    expect(numbersIn(await settle())).toEqual([3, 4]);
    expect(
      numbersIn(
        await send({ type: 'subscribe', since: cursorOf(0), subscriptions: [{ assetId: '02a' }] }),
      ),
    ).toEqual([1, 2]);
  });

  test('unsubscribing during a replay ends it', async () => {
    const { log, fanOut, send, session, settle } = world(1);
    insert(log, fanOut, 10);
    log.betweenBatches = async () => {
      if (session.subscriptions > 0 && log.samples.length === 10) {
        log.store('02a');
        session.receive('{"type":"unsubscribe"}');
        await new Promise(setImmediate);
      }
    };
    await send({ type: 'subscribe', since: cursorOf(0), subscriptions: [{ assetId: '02a' }] });
    insert(log, fanOut, 1);
    expect(numbersIn(await settle())).toEqual([]);
  });
});

describe('refusals of a replay', () => {
  test('a cursor older than what is kept: CURSOR_TOO_OLD with the oldest, the subscription stays live', async () => {
    const { log, fanOut, send, settle } = world();
    insert(log, fanOut, 6);
    log.oldest = cursorOf(4);
    const subscriptions = [
      { assetId: '02a', since: cursorOf(1) },
      { assetId: '02a', topic: 'door', since: cursorOf(5) },
    ];
    const [ack, error, ...more] = await send({ type: 'subscribe', id: 8, subscriptions });
    expect(ack!.type).toBe('subscribed');
    expect(error).toMatchObject({
      type: 'error',
      replyTo: 8,
      errorCode: 'CURSOR_TOO_OLD',
      oldestCursor: cursorOf(4),
    });
    expect(error!.message).toContain(cursorOf(4));
    expect(more).toEqual([]);
    insert(log, fanOut, 1);
    expect(numbersIn(await settle())).toEqual([7]);
  });

  test('a store that fails is INTERNAL, and the subscription is live', async () => {
    const { log, fanOut, send, settle, failures, ended } = world();
    log.failure = new Error('disk');
    const messages = await send({
      type: 'subscribe',
      id: 1,
      since: cursorOf(0),
      subscriptions: [{ assetId: '02a' }],
    });
    expect(messages.map(({ errorCode, type }) => errorCode ?? type)).toEqual([
      'subscribed',
      'INTERNAL',
    ]);
    expect(failures).toEqual([log.failure]);
    insert(log, fanOut, 1);
    expect(numbersIn(await settle())).toEqual([1]);
    expect(ended).toEqual([]);
  });
});

describe('limits', () => {
  test('more live samples during a replay than are held: it goes on from the store', async () => {
    const { log, fanOut, send, settle } = world(50);
    insert(log, fanOut, 100);
    const more = liveLimits.heldSamplesMax * 2 + 7;
    let added = false;
    log.betweenBatches = () => {
      if (!added) {
        added = true;
        insert(log, fanOut, more);
        insert(log, fanOut, 5, '02b');
      }
    };
    const messages = await send({
      type: 'subscribe',
      since: cursorOf(10),
      subscriptions: [{ assetId: '02a' }],
    });
    while (messages.length < 91 + more) messages.push(...(await settle()));
    insert(log, fanOut, 1);
    messages.push(...(await settle()));
    const expected = log.samples
      .filter((s) => s.deviceId === '02a' && s.cursor > cursorOf(10))
      .map((s) => Number(s.cursor));
    expect(numbersIn(messages)).toEqual(expected);
  });

  test('a reader with too much queued loses nothing: the session goes on from the store', async () => {
    const test = world(100);
    const { log, fanOut, send, settle } = test;
    await send({
      type: 'subscribe',
      subscriptions: [{ assetId: '02a' }, { assetId: '02b', topic: '*' }],
    });
    const padding = 'x'.repeat(10_000);
    test.frozen = true;
    const count = 3_000;
    for (let i = 0; i < count; i++)
      fanOut.publish([log.store(i % 2 ? '02a' : '02b', 'default', { padding })], 0);
    const messages = await settle();
    expect(messages.length).toBeLessThan(100);
    test.thaw();
    for (let i = 0; i < 200 && messages.length < count; i++) messages.push(...(await settle()));
    insert(log, fanOut, 3);
    messages.push(...(await settle()));
    expect(numbersIn(messages)).toEqual(log.samples.map(({ cursor }) => Number(cursor)));
  });

  test(`a reader that takes nothing is cut off by name after ${liveLimits.slowTicksMax} ticks`, async () => {
    const test = world();
    await test.send({ type: 'subscribe', subscriptions: [{ assetId: '02a' }] });
    test.frozen = true;
    insert(test.log, test.fanOut, 1);
    await test.settle();
    for (let tick = 0; tick <= liveLimits.slowTicksMax; tick++) {
      expect(test.ended).toEqual([]);
      test.session.tick();
    }
    expect(test.ended).toEqual(['the client is reading too slowly']);
    expect(test.fanOut.size).toBe(0);
  });

  test('a slow reader that goes on taking is not cut off', async () => {
    const test = world();
    await test.send({ type: 'subscribe', subscriptions: [{ assetId: '02a' }] });
    test.frozen = true;
    for (let tick = 0; tick < 50; tick++) {
      insert(test.log, test.fanOut, 1);
      await new Promise(setImmediate);
      test.session.tick();
      test.thaw();
      test.frozen = true;
    }
    expect(test.ended).toEqual([]);
  });
});

type Step =
  | { readonly kind: 'store'; readonly device: number; readonly topic: number }
  | { readonly kind: 'publish' | 'turn' | 'freeze' | 'thaw' }
  | {
      readonly kind: 'subscribe';
      readonly device: number;
      readonly topic: number;
      readonly back: number;
      readonly byTime: boolean;
    };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('store' as const),
        device: fc.nat(1),
        topic: fc.nat(1),
      }),
    },
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constantFrom('publish', 'turn', 'turn', 'freeze', 'thaw') }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('subscribe' as const),
        device: fc.nat(1),
        topic: fc.nat(2),
        back: fc.nat(8),
        byTime: fc.boolean(),
      }),
    },
  ) as fc.Arbitrary<Step>,
  { minLength: 5, maxLength: 60 },
);

const devices = ['02a', '02b'];
const topics = ['default', 'door', '*'];

describe('property', () => {
  test('whatever happens in between, every subscription gets each sample since its since exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const test = world(3);
        const { log, fanOut } = test;
        let published = 0;
        const publish = () =>
          fanOut.publish(log.samples.slice(published, (published = log.samples.length)), 0);
        const wanted = new Map<string, number>();
        const all: Received[] = [];
        for (const step of history) {
          if (step.kind === 'store') log.store(devices[step.device]!, topics[step.topic]);
          if (step.kind === 'publish') publish();
          if (step.kind === 'turn') await new Promise(setImmediate);
          if (step.kind === 'freeze') test.frozen = true;
          if (step.kind === 'thaw') test.thaw();
          if (step.kind !== 'subscribe') continue;
          const from = Math.max(0, log.samples.length - step.back);
          const since = step.byTime
            ? new Date(1_700_000_000_000 + from + 1).toISOString()
            : cursorOf(from);
          const subscription = { assetId: devices[step.device]!, topic: topics[step.topic]! };
          test.session.receive(
            JSON.stringify({ type: 'subscribe', subscriptions: [{ ...subscription, since }] }),
          );
          const name = `${subscription.assetId} ${subscription.topic}`;
          wanted.set(name, Math.min(from, wanted.get(name) ?? from));
        }
        test.thaw();
        publish();
        all.push(...(await test.settle()), ...(await test.settle()));
        const expected = log.samples.filter(({ deviceId, topic }, i) =>
          [topic, '*'].some(
            (t) => i >= (wanted.get(`${deviceId} ${t}`) ?? Number.POSITIVE_INFINITY),
          ),
        );
        expect(numbersIn(all).sort((a, b) => a - b)).toEqual(
          expected.map(({ cursor }) => Number(cursor)),
        );
      }),
      { numRuns: 3_000 },
    );
  });
});
