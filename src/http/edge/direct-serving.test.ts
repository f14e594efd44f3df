// Direct serving and the framework give the same answers: status, headers in their order, body, and what is reported.
import { Agent, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { endpoint } from '../../contract/endpoint.ts';
import { createRequestLimit } from '../../access/rate-limits.ts';
import type { Payload } from '../../model/payload.ts';
import { problem } from '../../model/problem.ts';
import type { Guard } from './admission.ts';
import { admittedRoute, Answer, resourceRoute, type Route, route, writtenAnswer } from './route.ts';
import { createServer } from './server.ts';

const now = () => Date.UTC(2026, 0, 2);
const requestsPerSecond = 100;
const tag = 'Things';
const open = { open: 'a test' } as const;
const place = { organizationId: 'o1', workspaceId: 'w1', what: 'thing', id: 't1' };
const thingBody = Type.Object({ name: Type.String() });

const opened = (path: string, handle: () => unknown, method: 'GET' | 'DELETE' = 'GET'): Route =>
  route(endpoint({ method, path, summary: 's', tag, access: open }), handle as never);

function routes(): Route[] {
  return [
    resourceRoute(
      endpoint({
        method: 'PUT',
        path: '/v3/things/:thingId',
        summary: 's',
        tag,
        access: { scope: 'asset', verb: 'update', resource: 'path' },
        params: Type.Object({ thingId: Type.String() }),
        query: Type.Object({
          size: Type.Optional(Type.Integer({ minimum: 1 })),
          label: Type.Optional(Type.String()),
        }),
        body: thingBody,
        response: Type.Unknown(),
        bodyBytesMax: 1_000,
      }),
      ({ thingId }) => {
        if (thingId !== 'unknown') return { ...place, id: thingId };
        throw problem('notFound', { what: 'thing', id: thingId });
      },
      ({ params, body, query, bodyBytes, ip, path }) => ({
        params,
        body,
        query: { ...query },
        bodyBytes,
        ip,
        path,
      }),
    ),
    admittedRoute(
      endpoint({
        method: 'POST',
        path: '/v3/take',
        summary: 's',
        tag,
        access: open,
        query: Type.Object({ secret: Type.Optional(Type.String()) }),
        body: Type.Unsafe<Payload>({ type: ['object', 'array'] }),
        status: 201,
        payload: true,
        response: Type.Unknown(),
      }),
      (_headers, { secret }) => {
        if (secret !== 'right') throw problem('uplinkSecretUnknown');
        return secret;
      },
      ({ body }, found) => ({ found, body }),
    ),
    opened('/health/live', () => ({ status: 'UP' })),
    opened('/broken', () => {
      throw new TypeError('secret internals');
    }),
    opened('/unwritable', () => new Answer(200, {}, { 'x-name': 'line\nbreak' })),
    opened('/gone', () => new Answer(204), 'DELETE'),
    opened('/nothing', () => undefined),
    opened('/page', () => new Answer(200, '<p>', { 'content-type': 'text/html; charset=utf-8' })),
    opened('/words', () => 'plain'),
    opened('/null', () => null),
    opened('/bytes', () => new Answer(200, Buffer.from([1, 2, 255]))),
    opened('/json', () => new Answer(202, { a: 'ö' }, { 'content-type': 'application/json' })),
    opened('/cookies', () => new Answer(200, {}, { 'set-cookie': ['a=1', 'b=2'] })),
    opened(
      '/stream',
      () => new Answer(200, Readable.from(['a', 'b', 'ö']), { 'x-thinned': 'true' }),
    ),
    opened('/empty-stream', () => new Answer(200, Readable.from([]))),
    opened('/failing-stream', () => new Answer(200, Readable.from(failing()))),
    opened('/v3/long', () => ({ words: 'ö word '.repeat(1_000) })),
    opened('/v3/longer', () => ({ words: 'ö word '.repeat(10_000) })),
    opened('/v3/written', () => writtenAnswer(JSON.stringify({ words: 'x'.repeat(3_000) }))),
    opened('/v3/long-words', () => 'word '.repeat(1_000)),
    opened('/v3/things/literal', () => ({ literal: true })),
    opened('/v3/things/:thingId/parts/:partId', () => ({ parts: true })),
    {
      ...opened('/v3/links/:token', () => {
        throw problem('unauthorized');
      }),
      secretPath: true,
    },
    {
      ...opened('/shaped', () => {
        throw problem('unauthorized');
      }),
      refusal: () => new Answer(401, { error: 'invalid_client' }, { 'x-shaped': '1' }),
    },
  ];
}

function failing(): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('no first byte')) }),
  };
}

function guard(): Guard {
  return {
    identify: ({ 'x-api-key': name }) => {
      if (typeof name !== 'string') throw problem('unauthorized');
      const organizationId = 'o1';
      return {
        kind: 'API_KEY',
        id: name,
        name,
        organizationId,
        workspaces: 'all',
        permissions: {},
      };
    },
    authorize: (_principal, _scope, _verb, target) => {
      if (target?.id === 'forbidden') throw problem('permissionDenied');
    },
    // By a clock that does not move.
    limit: createRequestLimit(requestsPerSecond, now)!,
  };
}

interface Side {
  readonly app: FastifyInstance;
  readonly port: number;
  /** What was reported for log and metrics since the last look. */
  readonly reported: unknown[];
  /** Requests that were left to the framework. */
  readonly routed: () => number;
}

async function openSide(direct: boolean): Promise<Side> {
  const reported: unknown[] = [];
  const app = await createServer({
    routes: routes(),
    guard: guard(),
    events: {
      answered: ({ ms, ...shown }) => reported.push({ ...shown, hasMs: ms >= 0 }),
      failed: (error, { path }) => reported.push({ error: String(error), path }),
      credentialRefused: (refused) => reported.push(refused),
    },
    now,
    publicUrl: 'https://things.example',
    trustedProxies: ['127.0.0.1'],
    corsOrigins: ['https://page.example'],
    direct,
  });
  const routing = vi.spyOn(app, 'routing');
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { app, port, reported, routed: () => routing.mock.calls.length };
}

let ours: Side;
let theirs: Side;
const agent = new Agent({ keepAlive: true });
beforeAll(async () => {
  ours = await openSide(true);
  theirs = await openSide(false);
});
afterAll(async () => {
  agent.destroy();
  await Promise.all([ours.app.close(), theirs.app.close()]);
});

interface Sent {
  readonly method?: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers?: readonly string[];
  readonly body?: string;
}

interface Got {
  readonly status: number | undefined;
  readonly headers: readonly string[];
  readonly body: string;
}

function ask({ port }: Side, { method = 'GET', path, headers = [], body }: Sent): Promise<Got> {
  const all = ['Host', 'things.example', 'X-Request-Id', 'r-1', ...headers];
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers: all as never, agent };
    const sent = httpRequest(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode: status, rawHeaders } = response;
        const text = Buffer.concat(chunks).toString('latin1');
        resolve({ status, headers: rawHeaders.map(masked), body: masked(text) });
      });
      response.on('error', reject);
    });
    sent.on('error', () => resolve({ status: undefined, headers: [], body: 'connection closed' }));
    sent.end(body);
  });
}

/** Without what differs from answer to answer. */
function masked(value: string): string {
  return value
    .replace(/"(errorId|traceId)":"[\da-f-]+"/g, '"$1":"*"')
    .replace(/[A-Z][a-z]{2}, \d\d .* GMT/, 'DATE')
    .replace(/"content-length","\d+"/, '');
}

const key = ['x-api-key', 'k'];
const json = ['content-type', 'application/json'];
const length = (body: string) => ['content-length', String(Buffer.byteLength(body))];
const put = (path: string, body = '{"name":"a"}', headers = [...key, ...json]): Sent => ({
  method: 'PUT',
  path,
  headers: [...headers, ...length(body)],
  body,
});
const take = (headers: readonly string[], body = '{"v":1}', path = '/v3/take?secret=right') => ({
  method: 'POST',
  path,
  headers: [...headers, ...length(body)],
  body,
});
const deep = `{"name":"a","x":${'['.repeat(70)}${']'.repeat(70)}}`;

const plain: Record<string, Sent> = {
  health: { path: '/health/live' },
  'HEAD of a GET': { method: 'HEAD', path: '/health/live' },
  'a change': put('/v3/things/t1?size=7&label=a%20b+c&none='),
  'a parameter sent twice': put('/v3/things/t1?label=a&label=b'),
  'a literal step before a parameter': { path: '/v3/things/literal' },
  'several parameters': { path: '/v3/things/a/parts/b' },
  'an escaped query': put('/v3/things/t1?label=%C3%B6%2F&label2=1&__proto__=x'),
  'a capture': take(json),
  'a capture without a content type': take([]),
  'a capture sent as a form': take(['content-type', 'application/x-www-form-urlencoded']),
  'no content': { method: 'DELETE', path: '/gone' },
  'no answer body': { path: '/nothing' },
  'a page': { path: '/page' },
  'a string': { path: '/words' },
  null: { path: '/null' },
  bytes: { path: '/bytes' },
  'JSON of a type without charset': { path: '/json' },
  'several cookies': { path: '/cookies' },
  'a stream': { path: '/stream' },
  'HEAD of a stream': { method: 'HEAD', path: '/stream' },
  'a stream without a byte': { path: '/empty-stream' },
  'a stream that fails': { path: '/failing-stream' },
  'our own fault': { path: '/broken' },
  'no credential': put('/v3/things/t1', '{"name":"a"}', json),
  'a wrong secret': take(json, '{}', '/v3/take?secret=wrong'),
  'an unknown record, with a broken body': put('/v3/things/unknown', '{broken'),
  'a forbidden record': put('/v3/things/forbidden'),
  'broken JSON': put('/v3/things/t1', '{"name": }'),
  'an empty body': put('/v3/things/t1', ''),
  'no body': { method: 'PUT', path: '/v3/things/t1', headers: [...key, ...length('')] },
  'a body of another shape': put('/v3/things/t1', '{"name":1}'),
  'a scalar': take(json, '7'),
  'too deep': put('/v3/things/t1', deep),
  'a byte order mark': put('/v3/things/t1', '\ufeff{"name":"a"}'),
  'a query of another type': put('/v3/things/t1?size=x'),
  'a query below its minimum': put('/v3/things/t1?size=0'),
  'a secret in the path': { path: '/v3/links/abc' },
  'a refusal of another form': { path: '/shaped' },
  'long JSON': { path: '/v3/long' },
  'long JSON by brotli': { path: '/v3/long', headers: ['accept-encoding', 'gzip, deflate, br'] },
  'long JSON by gzip': { path: '/v3/long', headers: ['accept-encoding', 'gzip;q=1, br;q=0.5'] },
  'long JSON without a coding': { path: '/v3/long', headers: ['accept-encoding', 'zstd, br;q=0'] },
  'longer JSON': { path: '/v3/longer', headers: ['accept-encoding', 'br'] },
  'longer JSON of an allowed origin': {
    path: '/v3/longer',
    headers: ['accept-encoding', '*', 'origin', 'https://page.example'],
  },
  'written JSON': { path: '/v3/written', headers: ['accept-encoding', 'gzip'] },
  'a long string': { path: '/v3/long-words', headers: ['accept-encoding', 'gzip'] },
  'short JSON': { path: '/v3/things/literal', headers: ['accept-encoding', 'gzip'] },
  'HEAD of long JSON': {
    method: 'HEAD',
    path: '/v3/long',
    headers: ['accept-encoding', 'gzip'],
  },
  'JSON that the client has': { path: '/v3/long', headers: ['if-none-match', '"x", *'] },
  'HEAD of JSON that the client has': {
    method: 'HEAD',
    path: '/v3/long',
    headers: ['if-none-match', '*'],
  },
  'a page of an allowed origin': {
    path: '/health/live',
    headers: ['origin', 'https://page.example'],
  },
  'a page of another origin': { path: '/health/live', headers: ['origin', 'https://evil.example'] },
  'a caller behind a proxy': put('/v3/things/t1', '{"name":"a"}', [
    ...key,
    ...json,
    'x-forwarded-for',
    '198.51.100.7, 203.0.113.9',
  ]),
  'two hosts': { path: '/health/live', headers: ['Host', 'other.example'] },
  'the last request of a connection': { path: '/health/live', headers: ['connection', 'close'] },
  'a traced refusal': {
    path: '/broken',
    headers: ['traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  },
  'credentials refused behind a proxy': take(['x-forwarded-for', '203.0.113.9'], '{}', '/v3/take'),
};

const others: Record<string, Sent> = {
  'an unknown path': { path: '/elsewhere' },
  'an unknown path of the interface': { path: '/v3/elsewhere', headers: key },
  'another method': { method: 'DELETE', path: '/v3/things/t1', headers: key },
  'an escaped path': put('/v3/things/t%201'),
  'a doubled slash': put('//v3/things/t1'),
  'a slash at the end': put('/v3/things/t1/'),
  'a long parameter': put(`/v3/things/${'x'.repeat(501)}`),
  'a form': put('/v3/things/t1', 'name=a', [
    ...key,
    'content-type',
    'application/x-www-form-urlencoded',
  ]),
  'an unknown content type': put('/v3/things/t1', '{}', [...key, 'content-type', 'text/plain']),
  'a content type that is none': put('/v3/things/t1', '{}', [...key, 'content-type', ';']),
  'too many bytes': put('/v3/things/t1', JSON.stringify({ name: 'x'.repeat(1_000) })),
  'a body in chunks': {
    method: 'PUT',
    path: '/v3/things/t1',
    headers: [...key, ...json, 'transfer-encoding', 'chunked'],
    body: '{"name":"a"}',
  },
  'a GET with a body': { path: '/health/live', headers: [...json, ...length('{}')], body: '{}' },
  'a preflight': {
    method: 'OPTIONS',
    path: '/v3/take',
    headers: ['origin', 'https://page.example', 'access-control-request-method', 'POST'],
  },
};

async function both(sent: Sent): Promise<{ readonly viaFramework: number }> {
  const before = ours.routed();
  const [direct, framework] = [await ask(ours, sent), await ask(theirs, sent)];
  expect(direct).toEqual(framework);
  expect(ours.reported.splice(0)).toEqual(theirs.reported.splice(0));
  return { viaFramework: ours.routed() - before };
}

describe('plain requests are served directly, with the answer of the framework', () => {
  test.each(Object.entries(plain))('%s', async (_what, sent) => {
    expect(await both(sent)).toEqual({ viaFramework: 0 });
  });
});

describe('other requests are left to the framework', () => {
  test.each(Object.entries(others))('%s', async (_what, sent) => {
    expect(await both(sent)).toEqual({ viaFramework: 1 });
  });
});

test('contract 0.2: what exceeds the limit is refused with the same headers', async () => {
  const busy = put('/v3/things/t1', '{"name":"a"}', ['x-api-key', 'busy', ...json]);
  const inTurn = async (side: Side) => {
    const got = [];
    for (let i = 0; i < requestsPerSecond + 2; i++) got.push(await ask(side, busy));
    return got;
  };
  const [direct, framework] = [await inTurn(ours), await inTurn(theirs)];
  expect(direct.slice(-3).map(({ status }) => status)).toEqual([200, 429, 429]);
  expect(direct).toEqual(framework);
});
