// Compressed bodies: an organization inflates one large body at a time, at its turns, and what it holds is given back (contract 42).
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { afterEach, expect, test, vi } from 'vitest';
import { type BodyStream, endpoint } from '../../contract/endpoint.ts';
import type { Json } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import { WorkTurns } from '../../transports/work-turns.ts';
import { admittedRoute, type Route } from './route.ts';
import { createServer } from './server.ts';

const bytesMax = 5_000_000;
const common = {
  method: 'POST',
  summary: 's',
  tag: 'Things',
  access: { open: 'a test' },
  response: Type.Unsafe<Json>({}),
  bodyBytesMax: bytesMax,
} as const;
const stream = { body: Type.Unsafe<BodyStream>({}), streamedBody: true } as const;
const lines = { ...stream, path: '/lines', anyBodyType: true, readings: true } as const;
const uploads = { ...stream, path: '/uploads', anyBodyType: true } as const;

let turns = new WorkTurns(() => performance.now());
/** Bytes that each request has read. */
let reads: { bytes: number }[] = [];
let released = Promise.withResolvers<void>();
let app: FastifyInstance;
afterEach(async () => {
  released.resolve();
  const closed = app.close();
  app.server.closeAllConnections();
  await closed;
});

/** The organization is named by the sender. */
const admit = (headers: Readonly<Record<string, unknown>>) => ({
  organizationId: String(headers['x-organization']),
});

async function readAll(body: BodyStream): Promise<number> {
  const read = { bytes: 0 };
  reads.push(read);
  for await (const chunk of body) read.bytes += chunk.byteLength;
  await released.promise;
  return read.bytes;
}

const routes: Route[] = [
  admittedRoute(endpoint({ ...common, ...lines }), admit, ({ body }) => readAll(body)),
  admittedRoute(endpoint({ ...common, ...uploads }), admit, async ({ body }) => {
    // A reader that stops early and ends nothing.
    await body[Symbol.asyncIterator]().next();
    throw problem('storageFull');
  }),
  admittedRoute(
    endpoint({ ...common, path: '/whole', body: Type.Unsafe<Json>({}), readings: true }),
    admit,
    ({ body }) => Object.keys(body as object).length,
  ),
];

async function listen(): Promise<number> {
  turns = new WorkTurns(() => performance.now());
  reads = [];
  released = Promise.withResolvers<void>();
  app = await createServer({
    routes,
    guard: {
      identify: () => {
        throw problem('unauthorized');
      },
      authorize: () => undefined,
      turns,
    },
    events: { answered: () => undefined, failed: () => undefined },
    now: Date.now,
    publicUrl: 'https://iot.example.org',
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

function post(port: number, path: string, body: Buffer, headers: Record<string, string> = {}) {
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'x-organization': 'one',
      ...headers,
    },
  });
}

/** A request ends a moment after its answer. */
const allGivenBack = () =>
  vi.waitFor(() => expect([turns.compressed.held, turns.large.size]).toEqual([0, 0]));

const long = Buffer.alloc(4_000_000, 'line\n');
const short = gzipSync(long.subarray(0, 50_000));

test.each([
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
])(
  'review security 4: large bodies of one organization in %s are inflated one at a time',
  async (coding, compress) => {
    const port = await listen();
    const body = compress(long);
    const send = (organization: string, sent = body, more = {}) =>
      post(port, '/lines', sent, {
        'content-encoding': coding,
        'x-organization': organization,
        ...more,
      });
    const answers = Array.from({ length: 4 }, () => send('one'));
    await vi.waitFor(() => expect(reads.map(({ bytes }) => bytes)).toContain(long.length));
    // Those of others, and short ones, do not wait for it.
    answers.push(send('two'), send('one', short, { 'content-encoding': 'gzip' }));
    await vi.waitFor(() => {
      const whole = reads.filter(({ bytes }) => bytes === long.length);
      expect([whole.length, reads.length]).toEqual([2, 6]);
      expect(reads.some(({ bytes }) => bytes === 50_000)).toBe(true);
    });
    // Of the others no more than a first chunk was inflated.
    const waiting = reads.filter(({ bytes }) => bytes !== long.length && bytes !== 50_000);
    expect(waiting.every(({ bytes }) => bytes <= 128 * 1024)).toBe(true);
    expect(turns.compressed.held).toBeGreaterThanOrEqual(5 * body.length);
    released.resolve();
    for (const answer of answers) expect((await answer).status).toBe(200);
    await allGivenBack();
  },
);

test('a sender that is slow takes no place of its organization', async () => {
  const port = await listen();
  released.resolve();
  const body = gzipSync(long);
  const slow = connect(port, '127.0.0.1');
  slow.write(
    `POST /lines HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\nX-Organization: one\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  slow.write(body.subarray(0, -10));
  await vi.waitFor(() => expect(turns.compressed.held).toBe(body.length - 10));
  expect((await post(port, '/lines', body)).status).toBe(200);
  await vi.waitFor(() => expect(turns.compressed.held).toBe(body.length - 10));
  slow.write(body.subarray(-10));
  const [answer] = (await once(slow, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
  slow.destroy();
});

test('a body that grows beyond the limit, as it came or inflated, is 413 and gives all back', async () => {
  const port = await listen();
  released.resolve();
  const bomb = gzipSync(Buffer.alloc(40_000_000, 'x'));
  for (const path of ['/lines', '/whole']) {
    expect((await post(port, path, bomb)).status).toBe(413);
    const declared = connect(port, '127.0.0.1');
    declared.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nX-Organization: one\r\nContent-Length: ${bytesMax + 1}\r\n\r\n`,
    );
    const [answer] = (await once(declared, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 413 /);
    declared.destroy();
  }
  await allGivenBack();
});

test('a body that is broken, or is not read to its end, gives all back', async () => {
  const port = await listen();
  released.resolve();
  const broken = gzipSync(long).subarray(0, -200);
  for (const path of ['/lines', '/whole'])
    expect((await post(port, path, broken)).status).toBe(400);
  expect((await post(port, '/uploads', gzipSync(long))).status).toBe(507);
  await allGivenBack();
});

test('an organization that holds most compressed bytes is asked to send again later', async () => {
  const port = await listen();
  const held = turns.compressed.open('one');
  held.take(96 * 1024 * 1024);
  expect((await post(port, '/lines', short)).status).toBe(503);
  released.resolve();
  expect((await post(port, '/lines', short, { 'x-organization': 'two' })).status).toBe(200);
  held.release();
  expect((await post(port, '/lines', short)).status).toBe(200);
});
