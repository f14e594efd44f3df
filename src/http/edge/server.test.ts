// The edge over real sockets: the order of refusals, the one error body, limits and the interface reference.
import type { AddressInfo } from 'node:net';
import Type from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endpoint } from '../../contract/endpoint.ts';
import { problem } from '../../model/problem.ts';
import { addDocs } from './docs.ts';
import { Answer, resourceRoute, route } from './route.ts';
import { createServer } from './server.ts';

const place = { organizationId: 'o1', workspaceId: 'w1', what: 'thing', id: 't1' };
const failures: unknown[] = [];
let base: string;
let close: () => Promise<void>;

beforeAll(async () => {
  const routes = [
    resourceRoute(
      endpoint({
        method: 'PUT',
        path: '/v3/things/:thingId',
        summary: 'Change a thing',
        tag: 'Things',
        access: { scope: 'asset', verb: 'update', resource: 'path' },
        params: Type.Object({ thingId: Type.String() }),
        query: Type.Object({ size: Type.Optional(Type.Integer({ minimum: 1 })) }),
        body: Type.Object({ name: Type.String(), count: Type.Optional(Type.Integer()) }),
        response: Type.Object({ name: Type.String(), size: Type.Integer() }),
        bodyBytesMax: 1_000,
      }),
      ({ thingId }) => {
        if (thingId === 't1') return place;
        throw problem('notFound', { what: 'thing', id: thingId });
      },
      ({ body, query }) => ({ name: body.name, size: query.size ?? 0 }),
    ),
    route(
      endpoint({
        method: 'GET',
        path: '/broken',
        summary: 'Fails',
        tag: 'Things',
        access: { open: 'a test' },
      }),
      () => {
        throw new TypeError('secret internals');
      },
    ),
    route(
      endpoint({
        method: 'DELETE',
        path: '/gone',
        summary: 'Deletes',
        tag: 'Things',
        access: { open: 'a test' },
      }),
      () => new Answer(204),
    ),
    route(
      endpoint({
        method: 'GET',
        path: '/page',
        summary: 'A page as the console is one',
        tag: 'Things',
        access: { open: 'a test' },
      }),
      () => new Answer(200, '<p>', { 'content-type': 'text/html; charset=utf-8' }),
    ),
  ];
  const app = await createServer({
    routes,
    guard: {
      identify: (headers) => {
        if (headers['x-api-key'] === undefined) throw problem('unauthorized');
        return {
          kind: 'API_KEY',
          id: 'k',
          name: 'k',
          organizationId: 'o1',
          workspaces: 'all',
          permissions: {},
        };
      },
      authorize: (principal, _scope, _verb, target) => {
        if (principal.name === 'k' && target?.id === 'forbidden') throw problem('permissionDenied');
      },
    },
    events: { answered: () => undefined, failed: (error) => failures.push(error) },
    now: () => Date.UTC(2026, 0, 2),
    publicUrl: 'http://localhost:1',
  });
  addDocs(app, routes);
  await app.listen({ host: '127.0.0.1', port: 0 });
  base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  close = () => app.close();
});
afterAll(() => close());

const json = { 'content-type': 'application/json' };
const key = { 'x-api-key': 'k', ...json };
const put = (path: string, body: string, headers: Record<string, string> = key) =>
  fetch(base + path, { method: 'PUT', headers, body });

async function refusal(
  answer: Response,
): Promise<{ status: number; errorCode: string; message: string }> {
  const body = (await answer.json()) as Record<string, string | number>;
  expect(Object.keys(body).sort()).toEqual(
    [
      'error',
      'errorCode',
      'errorId',
      'message',
      'path',
      'requestId',
      'status',
      'timestamp',
      'traceId',
    ].sort(),
  );
  expect(body['status']).toBe(answer.status);
  expect(body['requestId']).toBe(answer.headers.get('x-request-id'));
  return {
    status: answer.status,
    errorCode: String(body['errorCode']),
    message: String(body['message']),
  };
}

describe('interface 7: each refusal is the one error body', () => {
  for (const [what, path, body, headers, status, message] of [
    ['no credential', '/v3/things/t1', '{"name":"a"}', json, 401, 'Unauthorized'],
    [
      'a credential is asked for before a route is looked up',
      '/v3/nothing',
      '{}',
      json,
      401,
      'Unauthorized',
    ],
    [
      'an unknown route under /v3',
      '/v3/nothing',
      '{}',
      key,
      404,
      'No such endpoint: PUT /v3/nothing',
    ],
    [
      'an unknown path elsewhere',
      '/elsewhere',
      '{}',
      json,
      404,
      'No such endpoint: PUT /elsewhere',
    ],
    [
      'an unknown record, before the body is read',
      '/v3/things/t2',
      '{broken',
      key,
      404,
      'No thing with id t2',
    ],
    [
      'broken JSON, with where',
      '/v3/things/t1',
      '{"name": }',
      key,
      400,
      'Invalid JSON: Unexpected token',
    ],
    ['no body at all', '/v3/things/t1', '', key, 400, 'A JSON body is required'],
    [
      'a body of another shape, with where',
      '/v3/things/t1',
      '{"name": 1}',
      key,
      400,
      'body name: must be string',
    ],
    [
      'a text where a number belongs is not converted',
      '/v3/things/t1',
      '{"name":"a","count":"1"}',
      key,
      400,
      'body count: must be integer',
    ],
    [
      'a query value that is no number',
      '/v3/things/t1?size=x',
      '{"name":"a"}',
      key,
      400,
      'query size: must be integer',
    ],
    [
      'too many bytes',
      '/v3/things/t1',
      JSON.stringify({ name: 'x'.repeat(1_000) }),
      key,
      413,
      'exceeds 1000 bytes',
    ],
    [
      'too deep',
      '/v3/things/t1',
      `{"name":"a","x":${'['.repeat(70)}${']'.repeat(70)}}`,
      key,
      400,
      'nests deeper than 64',
    ],
    [
      'another media type',
      '/v3/things/t1',
      'name=a',
      { ...key, 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'Use application/json',
    ],
  ] as const) {
    test(`${what}: ${status}`, async () => {
      const told = await refusal(await put(path, body, headers));
      expect(told.status).toBe(status);
      expect(told.message).toContain(message);
    });
  }

  test('our own fault is a 500 without internals, and is told to the operator', async () => {
    const told = await refusal(await fetch(`${base}/broken`));
    expect(told).toEqual({ status: 500, errorCode: '50000_INTERNAL', message: 'Internal error' });
    expect(String(failures.at(-1))).toContain('secret internals');
  });

  test('contract 35: path has no query string', async () => {
    const answer = await fetch(`${base}/v3/nothing?secret=abc`, { headers: key });
    expect(await answer.json()).toMatchObject({ path: '/v3/nothing' });
  });
});

test('a good request is answered, its query converted', async () => {
  const answer = await put('/v3/things/t1?size=7', '{"name":"a"}');
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual({ name: 'a', size: 7 });
});

test('contract 0: DELETE answers 204 with an empty body', async () => {
  const answer = await fetch(`${base}/gone`, { method: 'DELETE', headers: json });
  expect([answer.status, await answer.text()]).toEqual([204, '']);
});

test('the request id and trace id of the caller are kept when they are safe to log', async () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { 'x-request-id': 'mine-1', traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const answer = await fetch(`${base}/elsewhere`, { headers });
  expect(await answer.json()).toMatchObject({ requestId: 'mine-1', traceId });
  const forged = await fetch(`${base}/elsewhere`, { headers: { 'x-request-id': 'a b"<c>' } });
  expect(forged.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('a page runs scripts of this server alone, talks to it alone, and is framed by nobody', async () => {
  const { headers } = await fetch(`${base}/page`);
  const policy = (headers.get('content-security-policy') ?? '').split('; ');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval'");
  expect(policy).toContain("connect-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("base-uri 'none'");
  expect(headers.get('x-frame-options')).toBe('DENY');
});

describe('the interface reference', () => {
  test('is OpenAPI 3.1 with each route, its permission and the error body', async () => {
    const document = (await (await fetch(`${base}/v3/openapi.json`)).json()) as {
      openapi: string;
      paths: Record<
        string,
        Record<string, { description: string; responses: Record<string, unknown> }>
      >;
    };
    expect(document.openapi).toBe('3.1.0');
    const put = document.paths['/v3/things/{thingId}']!['put']!;
    expect(put.description).toBe('Requires `asset` `update`.');
    expect(Object.keys(put.responses)).toEqual(['200', '4XX', '5XX']);
  });

  test('is readable at /docs without any request to another host', async () => {
    const page = await fetch(`${base}/docs/`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-security-policy')).toMatch(
      /^default-src 'self';.*connect-src 'self'/,
    );
    const script = /<script src="([^"]+)"/.exec(await page.text())![1]!;
    expect(script).not.toMatch(/^(https?:)?\/\//);
    expect((await fetch(new URL(script, `${base}/docs/`))).status).toBe(200);
  });
});
