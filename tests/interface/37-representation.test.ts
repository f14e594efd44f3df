// Contract 37: JSON answers are compressed and tagged, and rows of lists narrowed.
import { once } from 'node:events';
import { type IncomingMessage, request as httpRequest } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startWorld, type World } from '../world/world.ts';

let world: World;
let list: string;
beforeAll(async () => {
  world = await startWorld();
  const { workspaceId } = world;
  for (let n = 0; n < 40; n++)
    await world.must('POST', '/v3/tags', { workspaceId, name: `tag ${n}`, color: '#00ff00' });
  list = `/v3/tags?workspaceId=${workspaceId}&size=100`;
});
afterAll(() => world.close());

interface Got {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly bytes: Buffer;
}

/** As the answer is sent: `fetch` would decompress it. */
async function get(
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
): Promise<Got> {
  const method = body === undefined ? 'GET' : 'POST';
  const sent = httpRequest(world.base + path, {
    method,
    headers: { 'x-api-key': world.apiKey, 'content-type': 'application/json', ...headers },
  });
  sent.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return {
    status: response.statusCode,
    headers: response.headers,
    bytes: Buffer.concat(chunks),
  };
}

describe('compression', () => {
  const json = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString()) as object;

  test('a list is the same by br, gzip and without, and says what it depends on', async () => {
    const plain = await get(list);
    const brotli = await get(list, { 'accept-encoding': 'gzip, deflate, br' });
    const gzip = await get(list, { 'accept-encoding': 'gzip' });
    expect(plain.headers).not.toHaveProperty('content-encoding');
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(json(brotliDecompressSync(brotli.bytes))).toEqual(json(plain.bytes));
    expect(json(gunzipSync(gzip.bytes))).toEqual(json(plain.bytes));
    for (const { headers, bytes } of [plain, brotli, gzip]) {
      expect(headers).toMatchObject({
        vary: 'Accept-Encoding',
        'content-length': String(bytes.length),
        etag: plain.headers['etag'],
      });
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    }
    expect(gzip.bytes.length).toBeLessThan(plain.bytes.length / 5);
  });

  test('answers to POST too; tiny ones, streams and files are not', async () => {
    const all = { 'accept-encoding': 'gzip' };
    const { workspaceId } = world;
    const codings = async (path: string, body?: unknown) =>
      (await get(path, all, body)).headers['content-encoding'];
    expect(await codings('/v3/assets/list', { workspaceIds: [workspaceId] })).toBeUndefined();
    expect(await codings('/v3/openapi.json')).toBe('gzip');
    const device = await world.device();
    const samples = Array.from({ length: 100 }, (_, n) => ({
      deviceId: device.id,
      timestamp: new Date(Date.UTC(2026, 0, 1, n)).toISOString(),
      data: { n, words: 'so many words' },
    }));
    await world.must('POST', '/v3/samples/bulk', samples);
    const path = `/v3/devices/${device.id}`;
    expect(await codings(`${path}/query`, { topic: 'default' })).toBe('gzip');
    expect(await codings(`${path}/query`)).toBe('gzip');
    expect(await codings(`${path}/export?format=ndjson`)).toBeUndefined();
    expect(await codings(`/v3/tags?workspaceId=${workspaceId}&size=1`)).toBeUndefined();
    expect(await codings('/metrics')).toBeUndefined();
  });

  test('many long answers at the same time are all whole', async () => {
    const path = `/v3/device-types?organizationId=${world.organizationId}&size=1000`;
    const { organizationId } = world;
    const sampleData = 'x'.repeat(2_000);
    for (let n = 0; n < 20; n++)
      await world.must('POST', '/v3/device-types', {
        name: `type ${n}`,
        organizationId,
        type: 'manual',
        meta: { manufacturer: sampleData },
      });
    const plain = await get(path);
    expect(plain.bytes.length).toBeGreaterThan(40_000);
    const all = await Promise.all(
      Array.from({ length: 100 }, () => get(path, { 'accept-encoding': 'gzip' })),
    );
    for (const { headers, bytes } of all) {
      const isCompressed = headers['content-encoding'] === 'gzip';
      expect((isCompressed ? gunzipSync(bytes) : bytes).equals(plain.bytes)).toBe(true);
    }
  });
});

describe('entity tags', () => {
  test('the same record and list are a 304 without a body until they change', async () => {
    const { content } = JSON.parse(String((await get(list)).bytes));
    for (const path of [list, `/v3/tags/${content[0].id}`]) {
      const first = await get(path);
      const tag = String(first.headers['etag']);
      expect(tag).toMatch(/^W\/"[\w-]+"$/);
      for (const named of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
        const known = await get(path, { 'if-none-match': named });
        expect([known.status, known.bytes.length]).toEqual([304, 0]);
        expect(known.headers).toMatchObject({ etag: tag });
        expect(known.headers).not.toHaveProperty('content-length');
      }
      await world.must('PUT', `/v3/tags/${content[0].id}`, { color: '#ff0000' });
      const changed = await get(path, { 'if-none-match': tag });
      expect(changed.status).toBe(200);
      expect(changed.headers['etag']).not.toBe(tag);
      await world.must('PUT', `/v3/tags/${content[0].id}`, { color: '#00ff00' });
    }
  });

  test('a tag opens nothing: the checks come first', async () => {
    const wrong = { 'x-api-key': 'wrong', 'if-none-match': '*' };
    expect((await get(list, wrong)).status).toBe(401);
    expect((await get('/v3/tags/7100000000000000', { 'if-none-match': '*' })).status).toBe(404);
  });

  test('answers to changes have none', async () => {
    const { id } = await world.must('POST', '/v3/tags', {
      workspaceId: world.workspaceId,
      name: 'untagged',
    });
    const changed = await world.call('PUT', `/v3/tags/${id}`, {}, { 'if-none-match': '*' });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, null]);
  });
});

describe('fields', () => {
  const rows = async (query: string, body?: unknown) => {
    const { status, bytes } = await get(`${list}${query}`, {}, body);
    expect(status).toBe(200);
    return JSON.parse(String(bytes)).content as object[];
  };

  test.each(['id,name', '[name, id]', 'name&fields=id', 'id&fields[]=name'])(
    'fields=%s narrows rows to these members',
    async (fields) => {
      const narrowed = await rows(`&fields=${encodeURI(fields)}`);
      const whole = (await rows('')) as { id: string; name: string }[];
      expect(narrowed).toEqual(whole.map(({ id, name }) => ({ id, name })));
    },
  );

  test('of devices, and of a list that is asked by POST', async () => {
    const { workspaceId } = world;
    const path = '/v3/assets/list?fields=deviceId,tags&size=1';
    const { bytes } = await get(path, {}, { workspaceIds: [workspaceId] });
    const page = JSON.parse(String(bytes));
    expect(Object.keys(page.content[0]).sort()).toEqual(['deviceId', 'tags']);
    expect(page.totalElements).toBeGreaterThan(0);
  });

  test('a member that no row has is refused', async () => {
    const { status, bytes } = await get(`${list}&fields=id,colour`);
    expect([status, String(bytes)]).toEqual([400, expect.stringContaining('colour')]);
    for (const name of ['__proto__', 'constructor', 'toString'])
      expect((await get(`${list}&fields=${name}`)).status).toBe(400);
  });
});

test.each([
  ['GET', () => `/v3/tags?workspaceId=${world.workspaceId}&size=1001`],
  ['GET', () => `/v3/assets?workspaceId=${world.workspaceId}&size=1001`],
  ['GET', () => `/v3/views?workspaceId=${world.workspaceId}&size=0`],
  ['GET', () => `/v3/audit-logs?size=100000`],
  ['POST', () => '/v3/assets/list?size=1001'],
])('%s a page larger than the largest is a 400', async (method, path) => {
  const body = method === 'POST' ? { workspaceIds: [world.workspaceId] } : undefined;
  expect((await get(path(), {}, body)).status).toBe(400);
});
