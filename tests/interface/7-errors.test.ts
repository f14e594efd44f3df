// Interface 7 and contract 0.2: the error body, always JSON, for every way a request can be wrong.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { anyUuid, expectRefusal } from '../world/expectations.ts';
import { startWorld, type World } from '../world/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

describe('contract 0.2: always JSON', () => {
  for (const [what, method, path, body, headers, status, code] of [
    ['unknown route', 'GET', '/v3/nowhere', undefined, {}, 404, '40401_NO_SUCH_ROUTE'],
    ['unknown route outside /v3', 'GET', '/nowhere', undefined, {}, 404, '40401_NO_SUCH_ROUTE'],
    ['another method', 'DELETE', '/v3/assets', undefined, {}, 405, '40500_METHOD_NOT_ALLOWED'],
    ['PATCH', 'PATCH', '/v3/devices/02', {}, {}, 405, '40500_METHOD_NOT_ALLOWED'],
    ['broken JSON', 'POST', '/v3/tags', '{"name":', {}, 400, '40000_INVALID_JSON'],
    ['two values', 'POST', '/v3/tags', '{}{}', {}, 400, '40000_INVALID_JSON'],
    [
      'too deep',
      'POST',
      '/v3/tags',
      `${'['.repeat(100)}${']'.repeat(100)}`,
      {},
      400,
      '40000_INVALID_JSON',
    ],
    ['an array for an object', 'POST', '/v3/tags', [], {}, 400, '40001_INVALID_REQUEST'],
    ['null for an object', 'POST', '/v3/tags', 'null', {}, 400, '40001_INVALID_REQUEST'],
    [
      'a wrong type',
      'POST',
      '/v3/tags',
      { name: 7, workspaceId: 'x' },
      {},
      400,
      '40001_INVALID_REQUEST',
    ],
    ['no workspace', 'POST', '/v3/tags', { name: 'x' }, {}, 400, '40001_INVALID_REQUEST'],
    [
      'XML',
      'POST',
      '/v3/tags',
      '<a/>',
      { 'content-type': 'application/xml' },
      415,
      '41500_UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'a body above 4 MiB',
      'POST',
      '/v3/tags',
      { name: 'x'.repeat(4 * 1024 * 1024) },
      {},
      413,
      '41300_PAYLOAD_TOO_LARGE',
    ],
    [
      'unknown device',
      'GET',
      '/v3/devices/0200000000000000',
      undefined,
      {},
      404,
      '40400_NOT_FOUND',
    ],
    ['an id that is none', 'GET', '/v3/devices/x%20y', undefined, {}, 404, '40400_NOT_FOUND'],
    [
      'an id with a slash in it',
      'GET',
      '/v3/devices/..%2f..%2fetc',
      undefined,
      {},
      404,
      '40400_NOT_FOUND',
    ],
    ['a broken escape', 'GET', '/v3/devices/%zz', undefined, {}, 400, '40001_INVALID_REQUEST'],
    [
      'a list of an unknown workspace',
      'GET',
      '/v3/tags?workspaceId=29nowhere',
      undefined,
      {},
      404,
      '40400_NOT_FOUND',
    ],
    [
      'a list of an unknown organization',
      'GET',
      '/v3/workspaces?organizationId=28x',
      undefined,
      {},
      404,
      '40400_NOT_FOUND',
    ],
    [
      'a flag that is none',
      'GET',
      '/v3/organizations?minimal=perhaps',
      undefined,
      {},
      400,
      '40001_INVALID_REQUEST',
    ],
  ] as const)
    test(`${status} ${what}`, async () => {
      const answer = await world.call(method, path, body, headers);
      expectRefusal(answer, status, code, { path: path.split('?')[0]! });
    });

  for (const path of [
    '/v3/organizations',
    '/v3/workspaces',
    '/v3/tags',
    '/v3/device-types',
    '/v3/device-connectors',
    '/v3/output-connectors',
    '/v3/data-flows',
    '/v3/devices',
  ])
    for (const method of ['GET', 'PUT', 'DELETE'])
      test(`404 for an unknown record: ${method} ${path}/{id}`, async () => {
        if (path === '/v3/organizations' && method === 'DELETE') return;
        const one = `${path}/0000000000000000`;
        const answer = await world.call(method, one, method === 'PUT' ? { name: 'x' } : undefined);
        expectRefusal(answer, 404, '40400_NOT_FOUND', {
          path: one,
          message: expect.stringContaining('0000000000000000'),
        });
      });
});

describe('review behaviour 26: methods', () => {
  test.each([
    ['DELETE', '/v3/assets', 'GET, HEAD'],
    ['PATCH', '/v3/devices/0200000000000000', 'DELETE, GET, HEAD, PUT'],
    ['PUT', '/v3/api-keys/x', 'DELETE, GET, HEAD'],
    ['GET', '/v3/capture', 'POST'],
    ['POST', '/health/ready', 'GET, HEAD'],
    ['POST', '/v3/openapi.json', 'GET, HEAD'],
    ['POST', '/docs/', 'GET, HEAD'],
  ])('%s %s is a 405 that says what is allowed', async (method, path, allow) => {
    const answer = await world.call(method, path);
    expectRefusal(answer, 405, '40500_METHOD_NOT_ALLOWED', {
      path,
      message: expect.stringContaining(allow),
    });
    expect(answer.headers.get('allow')).toBe(allow);
  });

  test.each([
    '/health/live',
    '/metrics',
    '/v3/tags',
    '/v3/openapi.json',
    '/docs/',
    '/v3/devices/export?workspaceId=',
  ])('HEAD %s answers as GET does, without a body', async (path) => {
    const url = world.base + path + (path.endsWith('=') ? world.workspaceId : '');
    const headers = { 'x-api-key': world.apiKey };
    const [get, head] = [
      await fetch(url, { headers }),
      await fetch(url, { headers, method: 'HEAD' }),
    ];
    await get.arrayBuffer();
    expect([head.status, head.headers.get('content-type')]).toEqual([
      get.status,
      get.headers.get('content-type'),
    ]);
    expect((await head.arrayBuffer()).byteLength).toBe(0);
  });

  test('HEAD asks for a credential where GET does, and is a 404 for an unknown record', async () => {
    expect((await fetch(`${world.base}/v3/tags`, { method: 'HEAD' })).status).toBe(401);
    const headers = { 'x-api-key': world.apiKey };
    expect((await fetch(`${world.base}/v3/tags/71none`, { method: 'HEAD', headers })).status).toBe(
      404,
    );
  });

  test('an unknown page of the reference is the error body; /openapi.json leads to the document', async () => {
    expectRefusal(await world.call('GET', '/docs/nope'), 404, '40401_NO_SUCH_ROUTE', {
      path: '/docs/nope',
    });
    const moved = await fetch(`${world.base}/openapi.json`, { redirect: 'manual' });
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/v3/openapi.json']);
    expect(await (await fetch(`${world.base}/openapi.json`)).json()).toMatchObject({
      openapi: '3.1.0',
    });
  });
});

describe('contract 35: ids and path', () => {
  test('path has no query string, and so no secret of it', async () => {
    const { body } = await world.call('POST', '/v3/capture?secret=very-secret&deviceId=x', {});
    expect(body.path).toBe('/v3/capture');
    expect(JSON.stringify(body)).not.toContain('very-secret');
  });
  test('the request id of the caller comes back when it is safe, else a new one', async () => {
    for (const [sent, same] of [
      ['abc-123', true],
      ['not safe {}', false],
    ] as const) {
      const { body, headers } = await world.call('GET', '/v3/nowhere', undefined, {
        'x-request-id': sent,
      });
      expect(body.requestId === sent).toBe(same);
      expect(headers.get('x-request-id')).toBe(body.requestId);
    }
  });
  test('the trace id of the caller is taken from traceparent', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const { body } = await world.call('GET', '/v3/nowhere', undefined, {
      traceparent: `00-${trace}-00f067aa0ba902b7-01`,
    });
    expect(body.traceId).toBe(trace);
  });
  test('two refusals have two error ids', async () => {
    const ids = [];
    for (let at = 0; at < 2; at++) ids.push((await world.call('GET', '/v3/nowhere')).body.errorId);
    expect(ids[0]).not.toBe(ids[1]);
  });
  for (const [what, request, status, errorCode] of [
    [
      'headers beyond the limit',
      `GET /v3/assets HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(64_000)}`,
      431,
      '43100_HEADERS_TOO_LARGE',
    ],
    ['what is no HTTP', 'HELLO', 400, '40001_INVALID_REQUEST'],
  ] as const)
    test(`refused as JSON too: ${what}`, async () => {
      const { port } = new URL(world.base);
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(Number(port), '127.0.0.1');
        let text = '';
        socket.setEncoding('utf8').on('data', (more) => (text += more));
        socket.on('end', () => resolve(text)).on('error', reject);
        socket.write(`${request}\r\n\r\n`);
      });
      expect(answer).toContain(`HTTP/1.1 ${status} `);
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({
        status,
        errorCode,
        errorId: anyUuid,
      });
    });
});

test('contract 0: DELETE with a content type but no body is taken, as some clients send it', async () => {
  const tag = await world.must('POST', '/v3/tags', {
    workspaceId: world.workspaceId,
    name: 'gone',
  });
  const answer = await world.call('DELETE', `/v3/tags/${tag.id}`, undefined, {
    'content-type': 'application/json',
  });
  expect({ status: answer.status, body: answer.body }).toEqual({ status: 204, body: '' });
});

test('a doubled slash, as a base address with a slash at its end makes it, finds its endpoint', async () => {
  expect((await world.call('GET', '//v3/organizations')).status).toBe(200);
});
