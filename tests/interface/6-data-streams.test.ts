// Interface 6, contract 30 and 35: the WebSocket data stream as its clients use it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { anyTime, anyUuid } from '../world/expectations.ts';
import { openLive } from '../world/live-socket.ts';
import { besidesPlatform, makeKey } from '../world/restricted-keys.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

let world: World;
let a: TestDevice;
let b: TestDevice;
let elsewhere: TestDevice;
let tag: { id: string };
let restricted: string;
let deviceless: string;

beforeAll(async () => {
  world = await startWorld();
  const second = await world.must('POST', '/v3/workspaces', {
    name: 'Second',
    organizationId: world.organizationId,
  });
  await besidesPlatform(world, async (records) => {
    restricted = await makeKey(records, world, {
      permissions: { asset: ['read'] },
      workspaceIds: [world.workspaceId],
    });
    deviceless = await makeKey(records, world, { permissions: { dataFlow: ['read'] } });
  });
  tag = await world.must('POST', '/v3/tags', { workspaceId: world.workspaceId, name: 'both' });
  a = await world.device({ name: 'a', tags: [tag] });
  b = await world.device({ name: 'b', tags: [tag] });
  elsewhere = await world.device({ name: 'elsewhere', workspaceId: second.id });
});
afterAll(() => world.close());

const url = (key: string) => `${world.base.replace('http', 'ws')}/v3/data-streams?xApiKey=${key}`;
const open = (key = world.apiKey) => openLive(url(key));
const item = (assetId: string, topic?: string) => ({
  assetId,
  ...(topic !== undefined && { topic }),
  valid: true,
});
const byAsset = (x: { assetId: string }, y: { assetId: string }) =>
  x.assetId < y.assetId ? -1 : 1;

describe('connecting', () => {
  test('contract 30: connected is the first frame', async () => {
    const live = await open();
    expect(live.greeting).toEqual({
      type: 'connected',
      message: expect.any(String),
      timestamp: anyTime,
    });
    live.close();
  });

  const refusals: [string, string, Record<string, string>, number, string][] = [
    ['no credential', '/v3/data-streams', {}, 401, '40100_UNAUTHORIZED'],
    ['an unknown key', '/v3/data-streams?xApiKey=nobody', {}, 401, '40100_UNAUTHORIZED'],
    [
      'a token that is none',
      '/v3/data-streams?access_token=nonsense',
      {},
      401,
      '40102_INVALID_TOKEN',
    ],
    [
      'two credentials',
      '/v3/data-streams?access_token=a&xApiKey=b',
      {},
      401,
      '40101_TWO_CREDENTIALS',
    ],
    [
      'two credentials, one in a header',
      '/v3/data-streams?access_token=a',
      { 'x-api-key': 'b' },
      401,
      '40101_TWO_CREDENTIALS',
    ],
    ['another path', '/v3/streams?xApiKey=x', {}, 404, '40401_NO_SUCH_ROUTE'],
  ];
  for (const [what, path, headers, status, errorCode] of refusals)
    test(`the handshake is refused with ${status} and the error body: ${what}`, async () => {
      const socket = new WebSocket(world.base.replace('http', 'ws') + path, { headers });
      const answer = await new Promise<{ status: number | undefined; body: unknown }>(
        (resolve, reject) => {
          socket.on('open', () => reject(new Error('it was let in')));
          socket.on('error', () => undefined);
          socket.on('unexpected-response', (_request, response) => {
            let text = '';
            response.setEncoding('utf8').on('data', (more) => (text += more));
            response.on('end', () =>
              resolve({ status: response.statusCode, body: JSON.parse(text) }),
            );
          });
        },
      );
      expect(answer.status).toBe(status);
      expect(answer.body).toMatchObject({
        status,
        errorCode,
        path: path.split('?')[0],
        errorId: anyUuid,
        timestamp: anyTime,
      });
    });

  test('headers of the REST API are taken as well', async () => {
    const socket = new WebSocket(`${world.base.replace('http', 'ws')}/v3/data-streams`, {
      headers: { 'x-api-key': world.apiKey },
    });
    const first = await new Promise((resolve) =>
      socket.once('message', (text) => resolve(JSON.parse(String(text)))),
    );
    expect(first).toMatchObject({ type: 'connected' });
    socket.terminate();
  });

  test('contract 30: WebSocket-level pings get pongs', async () => {
    const live = await open();
    live.socket.ping('here');
    expect(String(await new Promise((resolve) => live.socket.once('pong', resolve)))).toBe('here');
    live.close();
  });
});

describe('ping, and ids that come back with their JSON type', () => {
  for (const [sent, echoed] of [
    [{ id: 'text' }, { replyTo: 'text' }],
    [{ id: 7 }, { replyTo: 7 }],
    [{ id: 0 }, { replyTo: 0 }],
    [{ id: '7' }, { replyTo: '7' }],
    [{}, {}],
    [{ id: null }, {}],
  ] as const)
    test(`ping ${JSON.stringify(sent)}`, async () => {
      const live = await open();
      expect(await live.ask({ type: 'ping', ...sent })).toEqual({
        type: 'pong',
        ...echoed,
        timestamp: anyTime,
      });
      live.close();
    });
});

describe('interface 6: subscribe and unsubscribe', () => {
  test('subscribed lists all open subscriptions sorted by assetId; topic default, one topic, and * without topic', async () => {
    const live = await open();
    const first = await live.ask({ type: 'subscribe', id: 1, subscriptions: [{ assetId: b.id }] });
    expect(first).toEqual({
      type: 'subscribed',
      replyTo: 1,
      subscriptions: [item(b.id, 'default')],
      timestamp: anyTime,
    });
    const second = await live.ask({
      type: 'subscribe',
      id: 'two',
      subscriptions: [
        { assetId: a.id, topic: '*' },
        { assetId: a.id, topic: 'climate' },
        { assetId: b.id, topic: 'default' },
      ],
    });
    expect(second).toMatchObject({ type: 'subscribed', replyTo: 'two' });
    expect(second['subscriptions'].toSorted(byAsset)).toEqual(second['subscriptions']);
    expect(second['subscriptions']).toHaveLength(3);
    expect(second['subscriptions']).toEqual(
      expect.arrayContaining([item(a.id), item(a.id, 'climate'), item(b.id, 'default')]),
    );
    live.close();
  });

  test('rule 1: unsubscribe removes only those combinations; rule 2: without any it cancels all and stays open', async () => {
    const live = await open();
    const subscriptions = [
      { assetId: a.id },
      { assetId: a.id, topic: 'climate' },
      { assetId: b.id, topic: '*' },
    ];
    await live.ask({ type: 'subscribe', subscriptions });
    const less = await live.ask({
      type: 'unsubscribe',
      id: 5,
      subscriptions: [{ assetId: a.id, topic: 'climate' }],
    });
    expect(less).toEqual({
      type: 'unsubscribed',
      replyTo: 5,
      subscriptions: [item(a.id, 'default'), item(b.id)].sort(byAsset),
      timestamp: anyTime,
    });
    const same = await live.ask({ type: 'unsubscribe', subscriptions: [{ assetId: b.id }] });
    expect(same['subscriptions']).toHaveLength(2);
    const none = await live.ask({ type: 'unsubscribe' });
    expect(none).toEqual({ type: 'unsubscribed', subscriptions: [], timestamp: anyTime });
    await world.capture(a, { n: 'unheard' });
    expect(await live.sofar()).toEqual([]);
    live.close();
  });

  test('rule 6: a tag represents the assets that have it at that time', async () => {
    const live = await open();
    const answer = await live.ask({
      type: 'subscribe',
      subscriptions: [{ tagId: tag.id, topic: '*' }],
    });
    expect(answer['subscriptions']).toEqual([item(a.id), item(b.id)].sort(byAsset));
    const late = await world.device({ name: 'late', tags: [tag] });
    await world.capture(late, { n: 1 });
    await world.capture(b, { n: 2 });
    expect((await live.sofar()).map((message) => message['sample'].deviceId)).toEqual([b.id]);
    expect(
      (await live.ask({ type: 'unsubscribe', subscriptions: [{ tagId: tag.id, topic: '*' }] }))[
        'subscriptions'
      ],
    ).toEqual([]);
    live.close();
  });

  test('contract 30: unknown and forbidden assets are valid:false instead of failing all', async () => {
    const live = await open(restricted);
    const subscriptions = [
      { assetId: '02nowhere' },
      { assetId: elsewhere.id, topic: '*' },
      { assetId: a.id },
      { tagId: '71nowhere' },
    ];
    const answer = await live.ask({ type: 'subscribe', id: 1, subscriptions });
    expect(answer['subscriptions']).toHaveLength(4);
    expect(answer['subscriptions']).toEqual(
      expect.arrayContaining([
        { assetId: '02nowhere', topic: 'default', valid: false },
        { assetId: elsewhere.id, valid: false },
        { tagId: '71nowhere', topic: 'default', valid: false },
        item(a.id, 'default'),
      ]),
    );
    const again = await live.ask({ type: 'subscribe', id: 2, subscriptions: [{ assetId: a.id }] });
    expect(again['subscriptions']).toEqual([item(a.id, 'default')]);
    await world.capture(elsewhere, { secret: 1 });
    expect(await live.sofar()).toEqual([]);
    live.close();
  });

  test('a key without asset read subscribes to nothing', async () => {
    const live = await open(deviceless);
    const answer = await live.ask({ type: 'subscribe', subscriptions: [{ assetId: a.id }] });
    expect(answer['subscriptions']).toEqual([{ assetId: a.id, topic: 'default', valid: false }]);
    live.close();
  });

  test('100 items in one frame', async () => {
    const live = await open();
    const subscriptions = Array.from({ length: 100 }, (_, n) => ({
      assetId: a.id,
      topic: `topic.${n}`,
    }));
    expect((await live.ask({ type: 'subscribe', subscriptions }))['subscriptions']).toHaveLength(
      100,
    );
    live.close();
  });
});

describe('interface 7: errors, after which the connection continues', () => {
  const item = { assetId: 'x', tagId: 'y' };
  for (const [what, message, errorCode, replyTo] of [
    ['no JSON', '{"type":', 'INVALID_JSON', undefined],
    ['no object', '[]', 'INVALID_MESSAGE', undefined],
    ['no type', { id: 1 }, 'UNKNOWN_TYPE', 1],
    ['an unknown type', { type: 'shout', id: 'x' }, 'UNKNOWN_TYPE', 'x'],
    [
      'rule 5: subscribe without subscriptions',
      { type: 'subscribe', id: 2 },
      'NO_SUBSCRIPTIONS',
      2,
    ],
    [
      'rule 5: with an empty list',
      { type: 'subscribe', id: 3, subscriptions: [] },
      'NO_SUBSCRIPTIONS',
      3,
    ],
    [
      'both assetId and tagId',
      { type: 'subscribe', id: 4, subscriptions: [item] },
      'INVALID_SUBSCRIPTION',
      4,
    ],
    [
      'neither',
      { type: 'subscribe', id: 5, subscriptions: [{ topic: '*' }] },
      'INVALID_SUBSCRIPTION',
      5,
    ],
    [
      'review behaviour 31: a since that is neither a cursor nor a time',
      { type: 'subscribe', id: 8, since: 'zzz', subscriptions: [{ assetId: 'x' }] },
      'INVALID_SUBSCRIPTION',
      8,
    ],
    [
      'subscriptions that are no list',
      { type: 'subscribe', id: 6, subscriptions: {} },
      'INVALID_MESSAGE',
      6,
    ],
    [
      'an accessToken that is none',
      { type: 'subscribe', id: 7, accessToken: 'nonsense', subscriptions: [{ assetId: 'x' }] },
      'INVALID_TOKEN',
      7,
    ],
  ] as const)
    test(what, async () => {
      const live = await open();
      expect(await live.ask(message)).toEqual({
        type: 'error',
        ...(replyTo === undefined ? {} : { replyTo }),
        errorCode,
        errorId: anyUuid,
        message: expect.stringMatching(/\S/),
        timestamp: anyTime,
      });
      expect(await live.ask({ type: 'ping' })).toMatchObject({ type: 'pong' });
      live.close();
    });

  test('contract 35: nothing of a message with a bad item applies', async () => {
    const live = await open();
    await live.ask({ type: 'subscribe', subscriptions: [{ assetId: a.id }, { topic: 'x' }] });
    await world.capture(a, { n: 'unheard' });
    expect(await live.sofar()).toEqual([]);
    live.close();
  });
});

describe('sample_insert', () => {
  test('carries sample, timestamp and cursor; one message per sample however many subscriptions match', async () => {
    const live = await open();
    const subscriptions = [{ assetId: a.id }, { assetId: a.id, topic: '*' }, { tagId: tag.id }];
    await live.ask({ type: 'subscribe', subscriptions });
    const timestamp = '2026-02-03T04:05:06.789Z';
    await world.capture(a, { here: true }, { timestamp });
    expect(await live.sofar()).toEqual([
      {
        type: 'sample_insert',
        cursor: expect.stringMatching(/\S/),
        sample: { deviceId: a.id, topic: 'default', timestamp, data: { here: true } },
        timestamp: anyTime,
      },
    ]);
    live.close();
  });

  test('only the subscribed topic, only of flows with the database connector, and repeated samples once', async () => {
    const live = await open();
    const unstored = await world.device({ name: 'unstored', outputs: [] });
    const subscriptions = [
      { assetId: a.id, topic: 'climate' },
      { assetId: unstored.id, topic: '*' },
    ];
    await live.ask({ type: 'subscribe', subscriptions });
    const timestamp = '2026-02-03T04:05:07.000Z';
    await world.capture(unstored, { n: 1 });
    await world.capture(a, { n: 2 });
    for (let at = 0; at < 2; at++)
      await world.capture(a, { n: 3 }, { topic: 'climate', timestamp });
    expect((await live.sofar()).map((message) => message['sample'].data)).toEqual([{ n: 3 }]);
    live.close();
  });
});
