// The WebSocket edge on real sockets (interface 4.11, 5.11 and 6, contract 30): handshake, order, limits, slow and dead readers.
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { FanOut } from '../../live/sessions/fan-out.ts';
import { liveLimits } from '../../live/sessions/live-limits.ts';
import {
  type Received,
  storedSample,
  type TestLog,
  testLog,
  testPrincipal,
  testFanOut,
  testPlaceWatch,
} from '../../live/sessions/testing-session.ts';
import { problem } from '../../model/problem.ts';
import { DataStreams, type DataStreamsOptions, dataStreamLimits } from './data-streams.ts';
import type { StreamCredentials } from './handshake.ts';

let server: Server;
let streams: DataStreams;
let fanOut: FanOut;
let log: TestLog;
let port: number;
let revoked: boolean;
const failures: unknown[] = [];

async function authenticate({ apiKey, accessToken, cookie }: StreamCredentials) {
  if (accessToken === 'expired') throw problem('invalidToken');
  if (apiKey === 'forbidden') throw problem('permissionDenied');
  if (apiKey === 'broken') throw new Error('database gone');
  if (
    revoked ||
    !(apiKey === 'key' || apiKey === 'neighbour' || accessToken === 'jwt' || cookie === 'session=1')
  )
    throw problem('unauthorized');
  const organizationId = apiKey === 'neighbour' ? '28b' : testPrincipal.organizationId;
  return { ...testPrincipal, organizationId, id: apiKey ?? accessToken ?? 'user' };
}

/** Replaces the streams of `beforeEach`. */
async function attachAgain(options: Partial<DataStreamsOptions>): Promise<void> {
  await streams.close();
  streams = new DataStreams(server, { ...standardOptions(), ...options });
}

const standardOptions = (): DataStreamsOptions => ({
  fanOut,
  authenticate,
  findAssets: async (_, ids) => new Set(ids.filter((id) => id.startsWith('02'))),
  access: { changes: () => 0, check: () => undefined },
  followable: async () => undefined,
  assetsOfTag: async () => undefined,
  assetsOfPlace: async () => undefined,
  placeWatch: testPlaceWatch(fanOut, {}),
  replay: log.replay,
  now: () => 1_800_000_000_000,
  publicUrl: 'https://iot.example.org',
  tickMs: 20,
  failed: (_, error) => failures.push(error),
});

beforeEach(async () => {
  server = createServer();
  fanOut = testFanOut();
  log = testLog(100);
  revoked = false;
  failures.length = 0;
  streams = new DataStreams(server, standardOptions());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterEach(async () => {
  await streams.close();
  server.closeAllConnections();
  server.close();
});

interface Client {
  readonly webSocket: WebSocket;
  /** The next message. */
  next(): Promise<Received>;
  send(message: unknown): void;
  readonly closed: Promise<{ code: number; reason: string }>;
}

function open(query = '?xApiKey=key', options: WebSocket.ClientOptions = {}): Client {
  const webSocket = new WebSocket(`ws://127.0.0.1:${port}/v3/data-streams${query}`, options);
  const messages: Received[] = [];
  const waiting: ((message: Received) => void)[] = [];
  webSocket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Received;
    const taker = waiting.shift();
    if (taker) taker(message);
    else messages.push(message);
  });
  webSocket.on('error', () => undefined);
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    webSocket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  return {
    webSocket,
    closed,
    send: (message) =>
      webSocket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next: () =>
      messages.length > 0
        ? Promise.resolve(messages.shift()!)
        : new Promise((resolve) => waiting.push(resolve)),
  };
}

async function opened(query?: string, options?: WebSocket.ClientOptions): Promise<Client> {
  const client = open(query, options);
  expect((await client.next()).type).toBe('connected');
  return client;
}

function handshake(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const upgrade = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'MDEyMzQ1Njc4OWFiY2RlZg==',
    };
    const asked = request({ port, host: '127.0.0.1', path, headers: { ...upgrade, ...headers } });
    asked.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode!, body: {} });
    });
    asked.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        expect(response.headers['content-type']).toContain('application/json');
        resolve({
          status: response.statusCode!,
          body: JSON.parse(text) as Record<string, unknown>,
        });
      });
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('handshake', () => {
  const path = dataStreamLimits.path;
  const accepted: [string, Record<string, string>][] = [
    [`${path}?xApiKey=key`, {}],
    [`${path}?access_token=jwt`, {}],
    [path, { 'x-api-key': 'key' }],
    [path, { authorization: 'Bearer jwt' }],
  ];
  for (const [url, headers] of accepted)
    test(`interface 5.11: ${url} ${JSON.stringify(headers)} is accepted`, async () => {
      expect((await handshake(url, headers)).status).toBe(101);
    });

  const refused: [string, Record<string, string>, number, string][] = [
    [path, {}, 401, 'Unauthorized'],
    [`${path}?xApiKey=wrong`, {}, 401, 'Unauthorized'],
    [`${path}?access_token=expired`, {}, 401, 'invalid token'],
    [`${path}?xApiKey=forbidden`, {}, 403, 'Permission denied'],
    [`${path}?xApiKey=key&access_token=jwt`, {}, 401, 'Two authentication headers received'],
    [
      path,
      { 'x-api-key': 'key', authorization: 'Bearer jwt' },
      401,
      'Two authentication headers received',
    ],
    [path, { cookie: 'session=1', origin: 'https://evil.example' }, 401, 'Unauthorized'],
    [path, { cookie: 'session=1' }, 401, 'Unauthorized'],
    ['/v3/other?xApiKey=key', {}, 404, 'No such endpoint: GET /v3/other'],
    [`${path}?xApiKey=broken`, {}, 500, 'Internal error'],
  ];
  for (const [url, headers, status, message] of refused)
    test(`contract 30: ${url} ${JSON.stringify(headers)} is ${status} with the error body`, async () => {
      const { body, ...answer } = await handshake(url, headers);
      expect(answer.status).toBe(status);
      expect(body).toMatchObject({
        status,
        message,
        path: url.split('?')[0],
        errorId: expect.any(String),
        requestId: expect.any(String),
      });
      expect(JSON.stringify(body)).not.toContain('key&');
      expect(failures).toHaveLength(status === 500 ? 1 : 0);
    });

  test("the console's cookie counts from a page of the same host", async () => {
    const answer = await handshake(path, {
      cookie: 'session=1',
      origin: `http://127.0.0.1:${port}`,
    });
    expect(answer.status).toBe(101);
  });
});

describe('messages', () => {
  test('contract 30: connected is the first text frame, a WebSocket-level ping is answered', async () => {
    const client = await opened();
    client.webSocket.ping('x');
    const [data] = (await once(client.webSocket, 'pong')) as [Buffer];
    expect(data.toString()).toBe('x');
  });

  test('contract 30: 100 items in a frame, sent at once in many frames, all answered in order', async () => {
    const client = await opened();
    for (let frame = 0; frame < 50; frame++) {
      const subscriptions = Array.from({ length: 100 }, (_, i) => ({
        assetId: `02${frame * 100 + i}`,
        topic: '*',
      }));
      client.send({ type: 'subscribe', id: frame, subscriptions });
    }
    for (let frame = 0; frame < 50; frame++) {
      const ack = await client.next();
      expect(ack).toMatchObject({ type: 'subscribed', replyTo: frame });
      expect(ack.subscriptions).toHaveLength((frame + 1) * 100);
    }
    for (let i = 0; i < 5_000; i++) fanOut.publish([storedSample(i + 1, `02${i}`)], 0);
    for (let i = 0; i < 5_000; i++)
      expect((await client.next()).cursor).toBe(storedSample(i + 1, '02').cursor);
  });

  test('contract 30: frames of 1 MiB are read; larger than the limit is an error and the connection stays open', async () => {
    const client = await opened();
    const item = { assetId: 'unknown', topic: 't'.repeat(200) };
    const subscriptions = Array.from(
      { length: Math.ceil(1_048_576 / (JSON.stringify(item).length + 1)) },
      () => item,
    );
    const text = JSON.stringify({ type: 'subscribe', id: 1, subscriptions });
    expect(text.length).toBeGreaterThan(1_048_576);
    client.send(text);
    expect(await client.next()).toMatchObject({ type: 'subscribed', replyTo: 1 });
    client.send(`{"type":"ping","x":"${'x'.repeat(liveLimits.messageBytesMax)}"}`);
    expect(await client.next()).toMatchObject({ type: 'error', errorCode: 'MESSAGE_TOO_LARGE' });
    client.webSocket.send(Buffer.from([1, 2]));
    expect(await client.next()).toMatchObject({ type: 'error', errorCode: 'BINARY_NOT_SUPPORTED' });
    client.send({ type: 'ping', id: 'still' });
    expect(await client.next()).toMatchObject({ type: 'pong', replyTo: 'still' });
  });

  test('a message beyond what is read at all ends the connection with 1009', async () => {
    const client = await opened();
    client.send('x'.repeat(liveLimits.frameBytesMax + 1));
    expect((await client.closed).code).toBe(1009);
  });

  test('frames of every length form arrive whole', async () => {
    const client = await opened();
    client.send({ type: 'subscribe', subscriptions: [{ assetId: '02a' }] });
    await client.next();
    const lengths = [0, 1, 60, 120, 126, 65_300, 65_536, 300_000];
    fanOut.publish(
      lengths.map((length, i) =>
        storedSample(i + 1, '02a', 'default', { text: 'ü'.repeat(length) }),
      ),
      0,
    );
    for (const length of lengths) {
      const { sample } = (await client.next()) as unknown as { sample: { data: { text: string } } };
      expect(sample.data.text).toBe('ü'.repeat(length));
    }
  });

  test('a flood of messages is read slower and answered completely, in order', async () => {
    const client = await opened();
    const count = 20_000;
    for (let id = 0; id < count; id++) client.send(`{"type":"ping","id":${id}}`);
    for (let id = 0; id < count; id++) expect((await client.next()).replyTo).toBe(id);
  });

  test('interface 5.11: a credential that is no longer valid subscribes nothing more', async () => {
    const client = await opened();
    revoked = true;
    client.send({ type: 'subscribe', id: 1, subscriptions: [{ assetId: '02a' }] });
    expect(await client.next()).toMatchObject({
      type: 'error',
      replyTo: 1,
      errorCode: 'UNAUTHORIZED',
    });
  });

  test('resume after a lost connection: nothing is missing, nothing comes twice', async () => {
    const insert = () => fanOut.publish([log.store('02a')], 0);
    const first = await opened();
    first.send({ type: 'subscribe', subscriptions: [{ assetId: '02a' }] });
    await first.next();
    for (let i = 0; i < 5; i++) insert();
    let since = '';
    for (let i = 0; i < 3; i++) since = (await first.next()).cursor as string;
    first.webSocket.terminate();
    for (let i = 0; i < 500; i++) insert();
    const second = await opened();
    second.send({ type: 'subscribe', since, subscriptions: [{ assetId: '02a' }] });
    expect((await second.next()).type).toBe('subscribed');
    for (let i = 0; i < 100; i++) insert();
    for (let n = 4; n <= 605; n++) expect(Number((await second.next()).cursor)).toBe(n);
  });
});

describe('readers that fail', () => {
  test('a frozen reader is cut off, and the others get everything', async () => {
    const subscribe = { type: 'subscribe', subscriptions: [{ assetId: '02a' }] };
    const good = await opened();
    const frozen = await opened();
    for (const client of [good, frozen]) {
      client.send(subscribe);
      await client.next();
    }
    frozen.webSocket.pause();
    const padding = 'x'.repeat(2_000);
    let sent = 0;
    while (streams.sessions === 2) {
      const data = { n: sent, padding };
      for (let i = 0; i < 100; i++)
        fanOut.publish([storedSample(++sent, '02a', 'default', data)], 0);
      for (let i = sent - 99; i <= sent; i++) expect(Number((await good.next()).cursor)).toBe(i);
    }
    fanOut.publish([storedSample(999_999, '02a')], 0);
    expect((await good.next()).cursor).toBe(storedSample(999_999, '02a').cursor);
    frozen.webSocket.resume();
    expect([1006, 1013]).toContain((await frozen.closed).code);
  });

  test('a reader that wakes up within the grace time reads why it was cut off', async () => {
    const client = await opened();
    client.send({ type: 'subscribe', subscriptions: [{ assetId: '02a' }] });
    await client.next();
    client.webSocket.pause();
    const data = { padding: 'x'.repeat(1_000_000) };
    for (let i = 1; i <= 30; i++) fanOut.publish([storedSample(i, '02a', 'default', data)], 0);
    while (fanOut.size > 0) await new Promise(setImmediate);
    client.webSocket.resume();
    expect(await client.closed).toEqual({ code: 1013, reason: 'the client is reading too slowly' });
  });

  test('a peer that answers no ping is ended', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `GET /v3/data-streams?xApiKey=key HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n',
    );
    socket.on('data', () => undefined);
    await once(socket, 'close');
    while (streams.sessions > 0) await new Promise(setImmediate);
  });

  test('a peer that answers pings stays', async () => {
    const client = await opened();
    for (let i = 0; i < 3; i++) await once(client.webSocket, 'ping');
    expect(streams.sessions).toBe(1);
  });

  test('malformed WebSocket frames end that connection alone', async () => {
    const good = await opened();
    const bad = await opened();
    (bad.webSocket as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(
      Buffer.from([0xff, 0xff, 1, 2, 3]),
    );
    await bad.closed;
    good.send({ type: 'ping' });
    expect((await good.next()).type).toBe('pong');
  });
});

describe('review security 2: memory for slow readers', () => {
  const sessionBytesMax = 4 * 1024 * 1024;
  // No reader is cut off for being late.
  const tickMs = 1_000_000;
  const padding = 'x'.repeat(50_000);

  async function follower(key: string, assetId: string): Promise<Client> {
    const client = await opened(`?xApiKey=${key}`);
    client.send({ type: 'subscribe', subscriptions: [{ assetId }] });
    await client.next();
    return client;
  }

  const turn = () => new Promise(setImmediate);
  const isNumber = expect.any(Number);

  test('an organization with slow readers leaves a session of another one its samples', async () => {
    await attachAgain({ sessionBytesMax, tickMs });
    expect(streams.sessionBytes).toEqual(isNumber);
    const neighbour = await follower('neighbour', '02b');
    neighbour.webSocket.pause();
    // Not in the store, so that they are lost if the session must read them there.
    let sent = 0;
    async function sendNeighbour(count: number): Promise<void> {
      for (let i = 0; i < count; i++)
        fanOut.publish([storedSample(++sent, '02b', 'default', { padding })], 0);
      await turn();
    }
    while (streams.sessionBytes === 0) await sendNeighbour(1);
    const slow = await Promise.all(Array.from({ length: 8 }, () => follower('key', '02a')));
    for (const { webSocket } of slow) webSocket.pause();
    const before = log.samples.length;
    for (let i = 0; i < 400; i++) {
      fanOut.publish([log.store('02a', 'default', { padding })], 0);
      await turn();
      expect(streams.sessionBytes).toBeLessThanOrEqual(sessionBytesMax);
    }
    expect(streams.sessionBytes).toBeGreaterThan(sessionBytesMax / 2);
    await sendNeighbour(15);
    expect(streams.sessionBytes).toBeLessThanOrEqual(sessionBytesMax);
    neighbour.webSocket.resume();
    for (let n = 1; n <= sent; n++) expect(Number((await neighbour.next()).cursor)).toBe(n);
    // Slow readers miss nothing: what had no room comes from the store.
    const newest = slow.at(-1)!;
    newest.webSocket.resume();
    for (let n = before + 1; n <= before + 400; n++)
      expect(Number((await newest.next()).cursor)).toBe(n);
  });

  test('who holds most is cut off when another one needs room, and hears why', async () => {
    const cuts: string[] = [];
    await attachAgain({ sessionBytesMax, tickMs, cut: (reason) => cuts.push(reason) });
    const neighbour = await follower('neighbour', '02b');
    const greedy = await opened();
    greedy.webSocket.pause();
    const subscriptions = Array.from({ length: 40_000 }, (_, i) => ({ assetId: `unknown${i}` }));
    // Each is acknowledged with two megabytes that nobody reads.
    for (let id = 0; id < 20; id++) greedy.send({ type: 'subscribe', id, subscriptions });
    const others = await Promise.all(Array.from({ length: 3 }, () => opened()));
    for (const { webSocket } of others) webSocket.pause();
    for (let id = 0; id < 20; id++)
      for (const each of others) each.send({ type: 'subscribe', id, subscriptions });
    await expect.poll(() => cuts.length, { timeout: 60_000 }).toBeGreaterThan(0);
    expect(new Set(cuts)).toEqual(new Set(['no room']));
    expect(streams.sessionBytes).toBeLessThanOrEqual(sessionBytesMax);
    for (const each of [greedy, ...others]) each.webSocket.resume();
    await expect.poll(() => streams.sessions, { timeout: 60_000 }).toBeLessThan(5);
    fanOut.publish([storedSample(1, '02b')], 0);
    expect((await neighbour.next()).type).toBe('sample_insert');
    expect(failures).toEqual([]);
  });

  test('a message in part counts, and ends its connection when the rest does not come', async () => {
    await attachAgain({ sessionBytesMax });
    const client = await opened();
    const { _socket: socket } = client.webSocket as unknown as {
      _socket: { write(bytes: Buffer): void };
    };
    // The head of a masked text message of 2 MiB, and its first half.
    const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0x20, 0, 0, 1, 2, 3, 4]);
    socket.write(Buffer.concat([head, Buffer.alloc(1024 * 1024)]));
    await expect.poll(() => streams.sessionBytes).toBeGreaterThan(1_000_000);
    expect(await client.closed).toEqual({
      code: 1008,
      reason: 'a message must arrive within 30 s',
    });
    expect(streams.sessionBytes).toBe(0);
  });
});

test('review security 2: of connections, those of the organization that has most give way', async () => {
  const cuts: string[] = [];
  await attachAgain({ sessionsMax: 3, cut: (reason) => cuts.push(reason) });
  const greedy = [await opened(), await opened(), await opened()];
  const { status } = await handshake('/v3/data-streams?xApiKey=key');
  expect(status).toBe(503);
  expect(streams.sessions).toBe(3);
  const neighbour = await opened('?xApiKey=neighbour');
  expect(await greedy[0]?.closed).toEqual({
    code: 1013,
    reason: 'the organization has too many connections',
  });
  expect(cuts).toEqual(['too many connections']);
  expect((await handshake('/v3/data-streams?xApiKey=key')).status).toBe(503);
  neighbour.send({ type: 'ping' });
  expect((await neighbour.next()).type).toBe('pong');
  // Those that have ended leave their places.
  neighbour.webSocket.close();
  await neighbour.closed;
  await expect.poll(() => streams.sessions).toBe(2);
  await opened();
});

describe('ends', () => {
  test('revoked credentials are ended at once with 4401', async () => {
    const [one, two] = [await opened(), await opened('?access_token=jwt')];
    expect(streams.endSessions(({ id }) => id === 'key')).toBe(1);
    expect(await one.closed).toEqual({ code: 4401, reason: 'the credential was revoked' });
    two.send({ type: 'ping' });
    expect((await two.next()).type).toBe('pong');
  });

  test('on shutdown every connection ends with 1001 and new ones are refused', async () => {
    const client = await opened();
    const closing = streams.close();
    expect((await client.closed).code).toBe(1001);
    await closing;
    expect(streams.sessions).toBe(0);
  });
});

test.each([
  ['without a credential', '', 401],
  ['that is none of a WebSocket', 'Sec-WebSocket-Key: short\r\nx-api-key: key\r\n', 400],
])(
  'behaviour 9, security 9: a handshake %s is refused with all headers, also when its sender closed its side',
  async (_what, lines, status) => {
    const socket = connect(port, '127.0.0.1');
    socket.end(
      `GET /v3/data-streams HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n${lines}\r\n`,
    );
    let answer = '';
    socket.on('data', (data) => (answer += data.toString()));
    await once(socket, 'close');
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    for (const name of ['nosniff', 'strict-transport-security', 'content-security-policy'])
      expect(answer).toContain(name);
  },
);
