// Rules of the live stream's messages (interface 6 and 5.11, contract 30 and 35), on a session without a socket.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { QuotaCount, standardQuotas } from '../../model/quota.ts';
import { liveLimits } from './live-limits.ts';
import {
  cursorOf,
  openTestSession,
  type Received,
  storedSample,
  testFanOut,
  testLog,
  testPlaceWatch,
  testPrincipal,
} from './testing-session.ts';
import { processorMs } from '../../structures/testing-processor-time.ts';

const timestamp = '2027-01-15T08:00:00.000Z';
const one = (assetId: string, topic?: string) => ({
  assetId,
  ...(topic !== undefined && { topic }),
});

describe('connected, ping and ids', () => {
  test('connected is the first message', async () => {
    const { session, settle } = openTestSession();
    session.open();
    session.receive('{"type":"ping"}');
    const [connected, pong] = await settle();
    expect(connected).toEqual({ type: 'connected', message: 'Connected', timestamp });
    expect(pong).toEqual({ type: 'pong', timestamp });
  });

  for (const id of ['a', '7', 7, 0, -1.5, ''])
    test(`contract 30: id ${JSON.stringify(id)} is echoed with its JSON type`, async () => {
      const { send } = openTestSession();
      expect(await send({ type: 'ping', id })).toEqual([{ type: 'pong', replyTo: id, timestamp }]);
      expect((await send({ type: 'subscribe', id, subscriptions: [one('02a')] }))[0]!.replyTo).toBe(
        id,
      );
      expect((await send({ type: 'unsubscribe', id }))[0]!.replyTo).toBe(id);
      expect((await send({ type: 'nope', id }))[0]!.replyTo).toBe(id);
    });

  test('a message without id or with null gets no replyTo', async () => {
    const { send } = openTestSession();
    expect((await send({ type: 'ping', id: null }))[0]).not.toHaveProperty('replyTo');
  });
});

describe('subscribe', () => {
  test('acknowledges all open subscriptions sorted by assetId; topic defaults to default, * has no topic', async () => {
    const { send } = openTestSession();
    await send({ type: 'subscribe', subscriptions: [one('02c'), one('02a', 'door')] });
    const [ack] = await send({
      type: 'subscribe',
      id: 5,
      subscriptions: [one('02b', '*'), one('02a')],
    });
    expect(ack).toEqual({
      type: 'subscribed',
      replyTo: 5,
      subscriptions: [
        { assetId: '02a', topic: 'default', valid: true },
        { assetId: '02a', topic: 'door', valid: true },
        { assetId: '02b', valid: true },
        { assetId: '02c', topic: 'default', valid: true },
      ],
      timestamp,
    });
  });

  test('rule 3: repeating a combination is acknowledged without a new one', async () => {
    const { send, session } = openTestSession();
    await send({ type: 'subscribe', subscriptions: [one('02a')] });
    const [ack] = await send({
      type: 'subscribe',
      subscriptions: [one('02a'), one('02a', 'default')],
    });
    expect(ack!.subscriptions).toEqual([{ assetId: '02a', topic: 'default', valid: true }]);
    expect(session.subscriptions).toBe(1);
  });

  test('behaviour 25: unsubscribe with an empty list is refused, and ends nothing', async () => {
    const { send, session } = openTestSession();
    await send({ type: 'subscribe', subscriptions: [one('02a')] });
    expect((await send({ type: 'unsubscribe', subscriptions: [] }))[0]).toMatchObject({
      type: 'error',
      errorCode: 'NOTHING_TO_UNSUBSCRIBE',
    });
    expect(session.subscriptions).toBe(1);
  });

  for (const subscriptions of [undefined, null, []])
    test(`rule 5: subscribe with subscriptions ${JSON.stringify(subscriptions)} is an error`, async () => {
      const { send } = openTestSession();
      const [error] = await send({ type: 'subscribe', id: 'x', subscriptions });
      expect(error).toMatchObject({
        type: 'error',
        replyTo: 'x',
        errorCode: 'NO_SUBSCRIPTIONS',
        errorId: 'error-1',
        timestamp,
      });
    });

  test('rule 6: a tag stands for the assets that have it then', async () => {
    const tags: Record<string, string[]> = { '71a': ['02a', '02b'], '71e': [] };
    const { send, session } = openTestSession({ tags });
    const [ack] = await send({ type: 'subscribe', subscriptions: [{ tagId: '71a', topic: '*' }] });
    expect(ack!.subscriptions).toEqual([
      { assetId: '02a', valid: true },
      { assetId: '02b', valid: true },
    ]);
    tags['71a'] = ['02c'];
    await send({ type: 'unsubscribe', subscriptions: [{ tagId: '71a' }] });
    expect(session.subscriptions).toBe(2);
    await send({ type: 'unsubscribe', subscriptions: [{ tagId: '71a', topic: '*' }] });
    expect(session.subscriptions).toBe(0);
    expect(
      (await send({ type: 'subscribe', subscriptions: [{ tagId: '71e' }] }))[0]!.subscriptions,
    ).toEqual([]);
  });

  test('contract 39.2: a place stands for its devices, also those that move there later', async () => {
    const places: Record<string, string[]> = { '41a': ['02a', '02b'] };
    const fanOut = testFanOut();
    const placeWatch = testPlaceWatch(fanOut, places);
    const { send, settle, session } = openTestSession({ fanOut, places, placeWatch });
    const moved = (id: string) =>
      placeWatch.recordChanged({ kind: 'device', id, action: 'updated' });
    const item = { placeId: '41a', topic: '*' };
    const [ack] = await send({ type: 'subscribe', subscriptions: [item, one('02a', '*')] });
    expect(ack!.subscriptions).toEqual([
      { assetId: '02a', valid: true },
      { assetId: '02b', valid: true },
    ]);
    places['41a'] = ['02c'];
    for (const id of ['02a', '02b', '02c']) moved(id);
    // The client named 02a itself.
    expect(await settle()).toEqual([
      expect.objectContaining({
        type: 'unsubscribed',
        ended: [{ assetId: '02b', valid: false }],
        subscriptions: [{ assetId: '02a', valid: true }],
      }),
      expect.objectContaining({
        type: 'subscribed',
        started: [{ assetId: '02c', valid: true }],
        subscriptions: [
          { assetId: '02a', valid: true },
          { assetId: '02c', valid: true },
        ],
      }),
    ]);
    // A place that moved or was deleted may have changed what is at another one.
    places['41a'] = [];
    placeWatch.recordChanged({ kind: 'place', id: '41z', action: 'deleted' });
    await settle();
    expect(session.subscriptions).toBe(1);
    await send({ type: 'unsubscribe', subscriptions: [item] });
    places['41a'] = ['02b'];
    moved('02b');
    expect(await settle()).toEqual([]);
  });

  test('contract 36: a place takes room for itself and for devices that come to it', async () => {
    const places: Record<string, string[]> = { '41a': ['02a'] };
    const fanOut = testFanOut();
    const placeWatch = testPlaceWatch(fanOut, places);
    const items = new QuotaCount({ ...standardQuotas, subscriptionItems: 2 }, 'subscriptionItems');
    const { send, settle } = openTestSession({ fanOut, places, placeWatch, items });
    const used = () => items.usedBy(testPrincipal.organizationId);
    await send({ type: 'subscribe', subscriptions: [{ placeId: '41a' }] });
    expect(used()).toBe(2);
    places['41a'] = ['02a', '02b'];
    placeWatch.recordChanged({ kind: 'device', id: '02b', action: 'updated' });
    expect(await settle()).toEqual([
      expect.objectContaining({ type: 'error', errorCode: 'TOO_MANY_SUBSCRIPTIONS' }),
    ]);
    await send({ type: 'unsubscribe' });
    expect(used()).toBe(0);
  });

  test('contract 35: unknown and forbidden items are valid: false in that acknowledgement only', async () => {
    const { send } = openTestSession();
    const subscriptions = [one('02x'), one('02b'), { tagId: '71x', topic: 't1' }, one('01x', '*')];
    const [ack] = await send({ type: 'subscribe', subscriptions });
    expect(ack!.subscriptions).toEqual([
      { assetId: '01x', valid: false },
      { assetId: '02b', topic: 'default', valid: true },
      { assetId: '02x', topic: 'default', valid: false },
      { tagId: '71x', topic: 't1', valid: false },
    ]);
    const [next] = await send({ type: 'subscribe', subscriptions: [one('02a')] });
    expect(next!.subscriptions).toEqual([
      { assetId: '02a', topic: 'default', valid: true },
      { assetId: '02b', topic: 'default', valid: true },
    ]);
  });

  for (const item of [
    {},
    { assetId: '02a', tagId: '71a' },
    { assetId: null, tagId: null },
    { assetId: '' },
  ])
    test(`contract 35: item ${JSON.stringify(item)} is INVALID_SUBSCRIPTION and nothing applies`, async () => {
      const { send, session } = openTestSession();
      const [error] = await send({ type: 'subscribe', id: 3, subscriptions: [one('02a'), item] });
      expect(error).toMatchObject({ type: 'error', replyTo: 3, errorCode: 'INVALID_SUBSCRIPTION' });
      expect(session.subscriptions).toBe(0);
    });

  test('interface 5.11: the accessToken of a message is used for it, else the credential of the connection', async () => {
    const { send, tokens, session } = openTestSession();
    await send({ type: 'subscribe', subscriptions: [one('02a')], accessToken: 'jwt' });
    await send({ type: 'subscribe', subscriptions: [one('02b')] });
    expect(tokens).toEqual(['jwt', undefined]);
    const [error] = await send({
      type: 'subscribe',
      id: 1,
      subscriptions: [one('02c')],
      accessToken: 'expired',
    });
    expect(error).toMatchObject({
      type: 'error',
      replyTo: 1,
      errorCode: 'INVALID_TOKEN',
      message: 'invalid token',
    });
    expect(session.subscriptions).toBe(2);
  });

  test('at most as many subscriptions as the quota says; beyond, nothing of the message applies', async () => {
    const max = standardQuotas.subscriptionItems;
    const assets = Array.from({ length: 10 }, (_, i) => `02${i}`);
    const { send, session } = openTestSession({ assets });
    const topics = Array.from({ length: max / 10 }, (_, i) => `t${i}`);
    for (const assetId of assets)
      await send({ type: 'subscribe', subscriptions: topics.map((topic) => one(assetId, topic)) });
    expect(session.subscriptions).toBe(max);
    const [error] = await send({
      type: 'subscribe',
      subscriptions: [one('021', 't1'), one('021', 'more')],
    });
    expect(error!.errorCode).toBe('TOO_MANY_SUBSCRIPTIONS');
    const [ack] = await send({ type: 'subscribe', subscriptions: [one('021', 't1')] });
    expect(ack!.subscriptions).toHaveLength(max);
  });
});

describe('unsubscribe', () => {
  test('rule 1: with items removes only those combinations and answers those that remain', async () => {
    const { send } = openTestSession();
    await send({
      type: 'subscribe',
      subscriptions: [one('02a'), one('02a', 'door'), one('02a', '*'), one('02b')],
    });
    const [ack] = await send({
      type: 'unsubscribe',
      id: 'u',
      subscriptions: [one('02a', '*'), one('02b'), one('02c')],
    });
    expect(ack).toEqual({
      type: 'unsubscribed',
      replyTo: 'u',
      subscriptions: [
        { assetId: '02a', topic: 'default', valid: true },
        { assetId: '02a', topic: 'door', valid: true },
      ],
      timestamp,
    });
  });

  for (const subscriptions of [undefined, null])
    test(`rule 2: unsubscribe with ${JSON.stringify(subscriptions)} cancels all`, async () => {
      const fanOut = testFanOut();
      const { send, settle } = openTestSession({ fanOut });
      await send({ type: 'subscribe', subscriptions: [one('02a'), one('02b', '*')] });
      expect((await send({ type: 'unsubscribe', subscriptions }))[0]!.subscriptions).toEqual([]);
      fanOut.publish([storedSample(1, '02a'), storedSample(2, '02b')], 0);
      expect(await settle()).toEqual([]);
      expect(fanOut.size).toBe(0);
    });

  test('an item with both refuses the message', async () => {
    const { send, session } = openTestSession();
    await send({ type: 'subscribe', subscriptions: [one('02a')] });
    const [error] = await send({
      type: 'unsubscribe',
      subscriptions: [one('02a'), { assetId: 'a', tagId: 'b' }],
    });
    expect(error!.errorCode).toBe('INVALID_SUBSCRIPTION');
    expect(session.subscriptions).toBe(1);
  });
});

describe('sample_insert', () => {
  test('carries the sample, its cursor and the time of sending', async () => {
    const fanOut = testFanOut();
    const { send, settle } = openTestSession({ fanOut });
    await send({ type: 'subscribe', subscriptions: [one('02a')] });
    const sample = {
      ...storedSample(4, '02a', 'default', { t: 'größe', n: { m: [1, null] } }),
      meta: { hidden: 1 },
    };
    fanOut.publish([sample], 1_750_000_000_000);
    expect(await settle()).toEqual([
      {
        type: 'sample_insert',
        cursor: cursorOf(4),
        sample: {
          deviceId: '02a',
          topic: 'default',
          timestamp: '2023-11-14T22:13:20.004Z',
          data: sample.data,
        },
        timestamp: '2025-06-15T15:06:40.000Z',
      },
    ]);
  });

  test('contract 35: one message per sample and session, however many subscriptions match', async () => {
    const fanOut = testFanOut();
    const first = openTestSession({ fanOut });
    const second = openTestSession({ fanOut });
    await first.send({
      type: 'subscribe',
      subscriptions: [one('02a'), one('02a', '*'), one('02a', 'door')],
    });
    await second.send({ type: 'subscribe', subscriptions: [one('02a', 'door')] });
    const samples = ['default', 'door', 'other'].map((topic, i) =>
      storedSample(i + 1, '02a', topic),
    );
    fanOut.publish([...samples, storedSample(4, '02b')], 0);
    expect((await first.settle()).map(({ cursor }) => Number(cursor))).toEqual([1, 2, 3]);
    expect((await second.settle()).map(({ cursor }) => Number(cursor))).toEqual([2]);
  });

  test('interface 1: samples that are only forwarded, not stored, are not streamed', async () => {
    const fanOut = testFanOut();
    const { send, settle } = openTestSession({ fanOut });
    await send({ type: 'subscribe', subscriptions: [one('02a')] });
    fanOut.publish([{ ...storedSample(1, '02a'), stored: false }], 0);
    expect(await settle()).toEqual([]);
  });

  test('a closed session gets nothing and leaves nothing behind', async () => {
    const fanOut = testFanOut();
    const { send, session, settle } = openTestSession({ fanOut });
    await send({ type: 'subscribe', subscriptions: [one('02a')] });
    session.close();
    expect(fanOut.size).toBe(0);
    session.receive('{"type":"ping"}');
    expect(await settle()).toEqual([]);
  });

  test('a session closed while its subscribe is checked subscribes nothing', async () => {
    const fanOut = testFanOut();
    const { session, settle } = openTestSession({ fanOut });
    session.receive(JSON.stringify({ type: 'subscribe', subscriptions: [one('02a')] }));
    session.close();
    await settle();
    expect(fanOut.size).toBe(0);
  });
});

describe('any message', () => {
  const id = fc.oneof(fc.string(), fc.double(), fc.constant(null), fc.jsonValue());
  const item = fc.oneof(
    fc.record(
      {
        assetId: fc.oneof(fc.constantFrom('02a', '02b', '02x', ''), fc.jsonValue()),
        tagId: fc.oneof(fc.constantFrom('71a', '71x'), fc.jsonValue()),
        topic: fc.oneof(fc.constantFrom('*', 'default', 'door'), fc.string(), fc.jsonValue()),
        since: fc.oneof(
          fc.constantFrom(cursorOf(1), '2023-11-14', '-1'),
          fc.string(),
          fc.jsonValue(),
        ),
      },
      { requiredKeys: [] },
    ),
    fc.jsonValue(),
  );
  const message = fc.oneof(
    fc.record(
      {
        type: fc.constantFrom('subscribe', 'unsubscribe', 'ping', 'toString'),
        id,
        subscriptions: fc.oneof(fc.array(item, { maxLength: 4 }), fc.jsonValue()),
        since: fc.oneof(fc.constantFrom(cursorOf(1), '2023-11-14'), fc.jsonValue()),
        accessToken: fc.oneof(fc.constantFrom('expired'), fc.jsonValue()),
      },
      { requiredKeys: [] },
    ),
    fc.jsonValue(),
  );
  const text = fc.oneof(
    message.map((value) => JSON.stringify(value)),
    message.map((value) => JSON.stringify(value).slice(1)),
    fc.string(),
  );

  test('is answered exactly once and never by INTERNAL', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 20, maxLength: 20 }), async (texts) => {
        const { session, settle, failures } = openTestSession({ tags: { '71a': ['02a', '02b'] } });
        const before = processorMs();
        for (const one of texts) session.receive(one);
        const answers: Received[] = [];
        while (session.waiting > 0 || answers.length < texts.length)
          answers.push(...(await settle()));
        expect(processorMs() - before).toBeLessThan(2_000);
        expect(answers).toHaveLength(texts.length);
        expect(failures).toEqual([]);
        for (const answer of answers)
          expect(['subscribed', 'unsubscribed', 'pong', 'error']).toContain(answer.type);
      }),
      { numRuns: 300 },
    );
  });
});

describe('interface 7: errors leave the connection open', () => {
  const rows: [string, string, string | number | undefined][] = [
    ['{', 'INVALID_JSON', undefined],
    ['', 'INVALID_JSON', undefined],
    ['null', 'INVALID_MESSAGE', undefined],
    ['[1]', 'INVALID_MESSAGE', undefined],
    ['{}', 'UNKNOWN_TYPE', undefined],
    ['{"type":"SUBSCRIBE","id":1}', 'UNKNOWN_TYPE', 1],
    ['{"type":"constructor","id":"a"}', 'UNKNOWN_TYPE', 'a'],
    ['{"type":"__proto__"}', 'UNKNOWN_TYPE', undefined],
    ['{"type":"ping","id":{"a":1}}', 'INVALID_MESSAGE', undefined],
    ['{"type":"subscribe","id":2,"subscriptions":"02a"}', 'INVALID_MESSAGE', 2],
    ['{"type":"subscribe","id":2,"subscriptions":[5]}', 'INVALID_MESSAGE', 2],
    ['{"type":"subscribe","id":2,"subscriptions":[{"assetId":5}]}', 'INVALID_MESSAGE', 2],
    [
      '{"type":"subscribe","id":2,"subscriptions":[{"assetId":"02a","since":5}]}',
      'INVALID_MESSAGE',
      2,
    ],
    [
      `{"type":"subscribe","id":2,"subscriptions":[{"assetId":"02a","topic":"${'t'.repeat(257)}"}]}`,
      'INVALID_MESSAGE',
      2,
    ],
  ];
  for (const [text, errorCode, replyTo] of rows)
    test(`${text.slice(0, 60)} is ${errorCode}`, async () => {
      const { send } = openTestSession();
      const [error, ...more] = await send(text);
      expect(error).toMatchObject({
        type: 'error',
        errorCode,
        errorId: 'error-1',
        message: expect.any(String),
      });
      expect(error!.replyTo).toBe(replyTo);
      expect(more).toEqual([]);
      expect((await send({ type: 'ping' }))[0]!.type).toBe('pong');
    });

  test('binary and too large messages are errors in their order', async () => {
    const { session, settle } = openTestSession();
    session.receive('{"type":"ping"}');
    session.receiveBinary();
    session.receiveTooLarge();
    session.receive('{"type":"ping"}');
    const messages = await settle();
    expect(messages.map(({ errorCode, type }) => errorCode ?? type)).toEqual([
      'pong',
      'BINARY_NOT_SUPPORTED',
      'MESSAGE_TOO_LARGE',
      'pong',
    ]);
  });

  test('our own mistake is INTERNAL with the id that is noted', async () => {
    const { send, failures } = openTestSession({ tags: undefined as never, assets: null as never });
    const [error] = await send({ type: 'subscribe', id: 9, subscriptions: [one('02a')] });
    expect(error).toMatchObject({ errorCode: 'INTERNAL', replyTo: 9, message: 'Internal error' });
    expect(failures).toHaveLength(1);
  });

  test('messages beyond the waiting limit are refused, the others answered in order', async () => {
    const { session, settle, received } = openTestSession();
    for (let id = 0; id < liveLimits.waitingMessagesMax + 10; id++)
      session.receive(`{"type":"ping","id":${id}}`);
    while (session.waiting > 0) await new Promise(setImmediate);
    const all = [...received.splice(0), ...(await settle())];
    expect(all.filter(({ errorCode }) => errorCode === 'TOO_MANY_MESSAGES').length).toBeGreaterThan(
      0,
    );
    const pongs = all.filter(({ type }) => type === 'pong').map(({ replyTo }) => replyTo as number);
    expect(pongs).toEqual([...pongs].sort((a, b) => a - b));
    expect(pongs.length).toBeGreaterThanOrEqual(liveLimits.waitingMessagesMax);
  });

  test('messages are handled in their order although checks take time', async () => {
    const { session, settle } = openTestSession({ log: testLog() });
    session.receive(JSON.stringify({ type: 'subscribe', id: 1, subscriptions: [one('02a')] }));
    session.receive(JSON.stringify({ type: 'unsubscribe', id: 2 }));
    session.receive(JSON.stringify({ type: 'ping', id: 3 }));
    expect((await settle()).map(({ replyTo }) => replyTo)).toEqual([1, 2, 3]);
  });
});
