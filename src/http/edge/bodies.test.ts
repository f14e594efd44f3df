// Bodies over real sockets, by both ways of serving: codings, types, limits, and senders that close their side.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { makeCertificate } from '../../../tests/servers/certificate.ts';
import { type BodyStream, endpoint } from '../../contract/endpoint.ts';
import type { Payload } from '../../model/payload.ts';
import { problem } from '../../model/problem.ts';
import { bytesOf } from './request-body.ts';
import { type Route, route } from './route.ts';
import { createServer, type ServerParts } from './server.ts';

const common = { method: 'POST', summary: 's', tag: 'Things', access: { open: 'a test' } } as const;
const json = Type.Unsafe<unknown>({});
const stream = Type.Unsafe<BodyStream>({});

/** Every way of reading a body; each answers with what it read. */
const routes: Route[] = [
  route(endpoint({ ...common, path: '/whole', body: json, response: json }), ({ body }) => body),
  route(
    endpoint({
      ...common,
      path: '/payload',
      body: Type.Unsafe<Payload>({}),
      response: json,
      payload: true,
    }),
    ({ body }) => body.body,
  ),
  route(
    endpoint({ ...common, path: '/large', body: json, response: json, bodyBytesMax: 5_000_000 }),
    ({ body }) => body,
  ),
  route(
    endpoint({ ...common, path: '/form', body: Type.String(), response: json, form: true }),
    ({ body }) => Object.fromEntries(new URLSearchParams(body)),
  ),
  route(
    endpoint({
      ...common,
      path: '/streamed',
      body: stream,
      response: json,
      streamedBody: true,
      bodyBytesMax: 5_000_000,
    }),
    async ({ body }) => JSON.parse((await bytesOf(body)).toString()),
  ),
  route(
    endpoint({
      ...common,
      path: '/any',
      body: stream,
      response: json,
      streamedBody: true,
      anyBodyType: true,
      bodyBytesMax: 5_000_000,
    }),
    async ({ body }) => JSON.parse((await bytesOf(body)).toString()),
  ),
  route(endpoint({ ...common, path: '/slow', body: json, response: json }), async ({ body }) => {
    await released.promise;
    return body;
  }),
];

const folder = mkdtempSync(join(tmpdir(), 'heliograph-bodies-'));
afterAll(() => rmSync(folder, { recursive: true }));

let released = Promise.withResolvers<void>();
let app: FastifyInstance;
afterEach(() => app.close());

async function listen(more: Partial<ServerParts> = {}): Promise<number> {
  released = Promise.withResolvers<void>();
  app = await createServer({
    routes,
    guard: {
      identify: () => {
        throw problem('unauthorized');
      },
      authorize: () => undefined,
    },
    events: { answered: () => undefined, failed: () => undefined },
    now: Date.now,
    publicUrl: 'https://iot.example.org',
    ...more,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

type SentBody = NonNullable<NonNullable<Parameters<typeof fetch>[1]>['body']>;

function post(port: number, path: string, body: SentBody, headers: Record<string, string> = {}) {
  const type = path === '/form' ? 'application/x-www-form-urlencoded' : 'application/json';
  return fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': type, ...headers },
  });
}

async function answered(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (data) => (text += data.toString()));
  await once(socket, 'close');
  return text;
}

const value = { a: 'ü', n: 1 };
const text = JSON.stringify(value);
const jsonPaths = ['/whole', '/payload', '/large', '/streamed', '/any'];
const codings: [string, (plain: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['identity, gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['identity', (plain) => Buffer.from(plain)],
];

describe('behaviour 10: Content-Encoding', () => {
  test.each(codings)('%s is inflated on every kind of route', async (coding, compress) => {
    const port = await listen();
    const headers = { 'content-encoding': coding };
    for (const path of jsonPaths) {
      const answer = await post(port, path, compress(text), headers);
      expect([path, answer.status, await answer.json()]).toEqual([path, 200, value]);
    }
    const form = await post(port, '/form', compress('a=1&b=%C3%BC'), headers);
    expect(await form.json()).toEqual({ a: '1', b: 'ü' });
  });

  test.each(['compress', 'zstd', 'gzip, br', 'aes128gcm'])(
    '%s is 415 with those that are taken',
    async (coding) => {
      const port = await listen();
      for (const path of jsonPaths) {
        const answer = await post(port, path, text, { 'content-encoding': coding });
        expect([path, answer.status]).toEqual([path, 415]);
        expect(answer.headers.get('accept-encoding')).toBe('gzip, deflate, br');
        expect(await answer.json()).toMatchObject({ message: expect.stringContaining(coding) });
      }
    },
  );

  test.each(['gzip', 'deflate', 'br'])(
    'a body that is no %s is 400, also one that breaks off',
    async (coding) => {
      const port = await listen();
      const compress = codings.find(([name]) => name === coding)?.[1] ?? gzipSync;
      for (const path of jsonPaths)
        for (const body of [Buffer.from(`x${text}`), compress(text.repeat(99)).subarray(0, 20)]) {
          const answer = await post(port, path, body, { 'content-encoding': coding });
          expect([path, answer.status]).toEqual([path, 400]);
        }
    },
  );

  test.each(['gzip', 'br'])('the limit counts after inflating %s', async (coding) => {
    const port = await listen();
    const compress = codings.find(([name]) => name === coding)?.[1] ?? gzipSync;
    const bomb = compress(`"${'a'.repeat(40_000_000)}"`);
    for (const path of jsonPaths) {
      const answer = await post(port, path, bomb, { 'content-encoding': coding });
      expect([path, answer.status]).toEqual([path, 413]);
    }
  });

  test('an empty body with a coding is an empty one', async () => {
    const answer = await post(await listen(), '/whole', '', { 'content-encoding': 'gzip' });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ message: 'A JSON body is required' });
  });
});

describe('behaviour 17: types and text', () => {
  test.each(['text/plain', 'TEXT/JSON', '*/*', 'application/x-www-form-urlencoded', '', 'a/b'])(
    'JSON as %s is taken where payloads come, and nowhere else',
    async (type) => {
      const port = await listen();
      const headers = { 'content-type': type };
      const answer = await post(port, '/payload', new Blob([text]), headers);
      expect([answer.status, await answer.json()]).toEqual([200, JSON.parse(text)]);
      const other = await post(port, '/whole', new Blob([text]), headers);
      expect(other.status).toBe(415);
    },
  );

  test('JSON without a type is taken where payloads come', async () => {
    const socket = connect(await listen(), '127.0.0.1');
    socket.end(
      `POST /payload HTTP/1.1\r\nHost: a\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
    expect(await answered(socket)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    ['Latin-1', Buffer.from('{"a":"ü"}', 'latin1'), 6],
    ['UTF-16', Buffer.from('\ufeff{"a":"ü"}', 'utf16le'), 0],
    ['a character that breaks off', Buffer.from([0x22, 0xe2, 0x82]), 1],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 1],
  ])('a body in %s is 400 with the place', async (_name, body, byte) => {
    const port = await listen();
    for (const path of ['/whole', '/large', '/streamed']) {
      const answer = await post(port, path, body);
      expect([path, answer.status, await answer.json()]).toMatchObject([
        path,
        400,
        { errorCode: '40005_NOT_UTF8', message: expect.stringContaining(`byte ${byte} `) },
      ]);
    }
  });
});

describe('behaviour 11: a body that is too large', () => {
  test.each([...jsonPaths, '/form'])('%s answers 413 and reads on', async (path) => {
    const port = await listen();
    const body = Buffer.alloc(70_000_000, 'x');
    for (let n = 0; n < 3; n++) {
      const answer = await post(port, path, body);
      const { errorCode } = (await answer.json()) as { errorCode?: string };
      expect([answer.status, errorCode]).toEqual([413, '41300_PAYLOAD_TOO_LARGE']);
    }
  });

  test('a sender that asks to close reads why it is refused, after it has sent everything', async () => {
    const port = await listen();
    const length = 20_000_000;
    for (const path of ['/whole', '/unknown', '/large']) {
      const socket = connect(port, '127.0.0.1');
      socket.write(
        `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
      );
      const part = Buffer.alloc(1_000_000, 'x');
      for (let sent = 0; sent < length; sent += part.length)
        if (!socket.write(part)) await once(socket, 'drain');
      expect(await answered(socket)).toMatch(path === '/unknown' ? / 404 / : / 413 /);
    }
  });
});

describe('behaviour 9: a sender that closes its side', () => {
  const head = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

  test.each([true, false])('gets its answer, direct: %s', async (direct) => {
    const port = await listen({ direct });
    for (const path of ['/slow', ...jsonPaths]) {
      const socket = connect(port, '127.0.0.1');
      const ended = once(socket, 'finish');
      socket.end(head(path));
      const answer = answered(socket);
      await ended;
      released.resolve();
      expect(await answer).toMatch(/^HTTP\/1\.1 200 [^]*"a":"ü"/);
    }
  });

  test('gets its answer over TLS', async () => {
    const { cert, key } = await makeCertificate(folder);
    const certificate = { cert: Buffer.from(cert), key: Buffer.from(key) };
    const port = await listen({ certificate });
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.end(head('/slow'));
    const answer = answered(socket);
    await once(socket, 'finish');
    released.resolve();
    expect(await answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('behaviour 25, security 9: requests that are no proper HTTP', () => {
  test.each([
    ['no Host', 'GET /whole HTTP/1.1\r\n\r\n', 400, 'The header Host is missing'],
    ['an unknown Expect', 'GET /whole HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n', 417, 'magic'],
    ['raw UTF-8 in the address', 'GET /whole/ü HTTP/1.1\r\nHost: a\r\n\r\n', 400, '%C3%BC'],
    ['no HTTP', 'hello\r\n\r\n', 400, 'not valid HTTP'],
  ])('%s gets a body and the headers of every answer', async (_name, bytes, status, said) => {
    const socket = connect(await listen(), '127.0.0.1');
    socket.end(bytes);
    const answer = (await answered(socket)).toLowerCase();
    expect(answer).toMatch(new RegExp(`^http/1\\.1 ${status} `));
    expect(answer).toContain(said.toLowerCase());
    for (const name of ['nosniff', 'strict-transport-security:', 'content-security-policy:'])
      expect(answer).toContain(name);
  });

  test('a path that no route has is logged without what may be a key in it', async () => {
    const paths: string[] = [];
    const done = Promise.withResolvers<void>();
    const events = {
      failed: () => undefined,
      answered: ({ path }: { path: string }) => {
        paths.push(path);
        if (paths.length === 2) done.resolve();
      },
    };
    const port = await listen({ events });
    await post(port, '/whole/0c8ea9ea-secret/slow?key=other-secret', '{}');
    await post(port, '/whole', '{}');
    await done.promise;
    expect(paths).toEqual(['/whole/***/slow', '/whole']);
  });

  test('HTTP/1.0 with chunks ends the connection', async () => {
    const socket = connect(await listen(), '127.0.0.1');
    socket.write(
      `POST /whole HTTP/1.0\r\nConnection: keep-alive\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    );
    expect((await answered(socket)).toLowerCase()).toContain('connection: close');
  });

  test('a request without a body may expect to continue', async () => {
    const port = await listen();
    const socket = connect(port, '127.0.0.1');
    socket.end(
      `POST /whole HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    );
    expect(await answered(socket)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  });
});
