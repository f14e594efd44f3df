// TypeScript client: installed from its tarball, with the examples of its README, retries, and streams that break.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import ts from 'typescript';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type * as ClientModule from '../../clients/typescript/client.ts';
import { packClient } from '../../tools/pack-client.ts';
import { startWorld, type TestDevice, type World } from '../world/world.ts';

const root = join(import.meta.dirname, '..', '..');
let world: World;
let folder: string;
let installed: typeof ClientModule;
let pump: TestDevice;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'heliograph-client-test-'));
  const tarball = await packClient(root, folder);
  const target = join(folder, 'node_modules', '@heliograph', 'client');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', target]);
  installed = (await import(join(target, 'client.js'))) as typeof ClientModule;
  world = await startWorld();
  pump = await world.device();
  await world.capture(pump, { temperature: 21.5 });
}, 240_000);
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const clientOf = (more: object = {}) =>
  installed.createClient({ url: world.base, apiKey: world.apiKey, ...more });

test('the package has no dependency', () => {
  const path = join(folder, 'node_modules', '@heliograph', 'client', 'package.json');
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(path, 'utf8'));
  expect([dependencies, peerDependencies]).toEqual([undefined, undefined]);
});

const wrongLines = [
  "heliograph.get('/v3/nothing');",
  "heliograph.get('/v3/devices/{id}');",
  "heliograph.post('/v3/tags', { body: { name: 1 } });",
  "heliograph.delete('/v3/about');",
];

test('the examples of the README compile and run, and wrong calls do not compile', async () => {
  const readme = readFileSync(join(root, 'clients', 'typescript', 'README.md'), 'utf8');
  const blocks = Array.from(readme.matchAll(/^```ts\n([^]*?)^```$/gm), ([, code = '']) => code);
  expect(blocks.length).toBeGreaterThan(4);
  const code = blocks
    .join('\n')
    .replace('http://localhost:8080', world.base)
    .replace("'pump-1'", `'${pump.deviceId}'`);
  const [examples, wrong] = [join(folder, 'examples.mts'), join(folder, 'wrong.mts')];
  writeFileSync(examples, code);
  const start = "import { createClient } from '@heliograph/client';\n";
  const client = "const heliograph = createClient({ url: '' });\n";
  writeFileSync(wrong, start + client + wrongLines.join('\n'));
  const program = ts.createProgram([examples, wrong], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    noEmit: true,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
  });
  const problems = ts
    .getPreEmitDiagnostics(program)
    .map(({ file, start: at = 0, messageText }) => ({
      line: (file?.getLineAndCharacterOfPosition(at).line ?? 0) - 2,
      text: file?.fileName === wrong ? '' : messageText,
    }));
  expect(problems).toEqual(wrongLines.map((_, line) => ({ line, text: '' })));
  const env = { ...process.env, HELIOGRAPH_API_KEY: world.apiKey };
  const { stdout } = await promisify(execFile)(process.execPath, [examples], { env });
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining(['Heliograph', '1', '{ temperature: 21.5 }', '40400_NOT_FOUND', 'true']),
  );
}, 240_000);

test('pages are read to the end of the list', async () => {
  for (let i = 0; i < 5; i++)
    await world.must('POST', '/v3/tags', { workspaceId: world.workspaceId, name: `tag ${i}` });
  const names: string[] = [];
  for await (const { name } of clientOf().pages('/v3/tags', { query: { size: 2 } }))
    names.push(name);
  expect(names.filter((name) => name.startsWith('tag ')).toSorted()).toEqual(
    [0, 1, 2, 3, 4].map((i) => `tag ${i}`),
  );
});

/** A server whose answers are those of the function. */
async function serverOf(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => server.close() };
}

describe('retries', () => {
  test('repeat a POST with its key until it succeeds', async () => {
    const keys: unknown[] = [];
    const server = await serverOf((request, response) => {
      keys.push(request.headers['idempotency-key']);
      if (keys.length === 1) return void request.socket.destroy();
      response.writeHead(keys.length === 2 ? 503 : 201, {
        'retry-after': '0',
        'content-type': 'application/json',
      });
      response.end('{"id":"x"}');
    });
    const client = installed.createClient({ url: server.url, apiKey: 'k' });
    const body = { name: 'tag', workspaceId: 'w' };
    expect(await client.post('/v3/tags', { body })).toEqual({ id: 'x' });
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
    server.close();
  });

  test('end with what the platform says, or that none came', async () => {
    let calls = 0;
    const server = await serverOf((_, response) => {
      calls++;
      response.writeHead(429, { 'retry-after': '0', 'content-type': 'application/json' });
      response.end('{"message":"too many","errorCode":"42900_X","requestId":"r"}');
    });
    const client = installed.createClient({ url: server.url, triesMax: 3 });
    await expect(client.get('/v3/about')).rejects.toMatchObject({
      status: 429,
      errorCode: '42900_X',
      requestId: 'r',
      message: 'GET /v3/about: 429 too many',
    });
    expect(calls).toBe(3);
    server.close();
    const nobody = installed.createClient({ url: 'http://127.0.0.1:1', triesMax: 1 });
    await expect(nobody.get('/v3/about')).rejects.toMatchObject({ status: 0 });
  });

  test('do not follow a refusal, and end with the signal', async () => {
    const { signal } = { signal: AbortSignal.abort(new Error('enough')) };
    await expect(clientOf().get('/v3/about', { signal })).rejects.toThrow('enough');
    await expect(clientOf({ apiKey: 'wrong' }).get('/v3/workspaces')).rejects.toMatchObject({
      status: 401,
    });
  });
});

describe('bodies', () => {
  test('backfill splits samples, and counts what is stored, known and rejected', async () => {
    const device = await world.device();
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
    const samples = Array.from({ length: 5_003 }, (_, n) => ({
      timestamp: n === 5_001 ? 'never' : at(n),
      data: { n },
    }));
    const expected = { duplicates: 0, rejected: [{ index: 5_001 }] };
    const client = clientOf();
    const total = await client.backfill(device.id, samples);
    expect(total).toMatchObject({ accepted: 5_002, ...expected });
    const again = await client.backfill(device.id, samples.values());
    expect(again).toMatchObject({ accepted: 0, ...expected, duplicates: 5_002 });
    const one = { path: { deviceId: device.id }, body: { data: { n: 1 }, timestamp: at(-1) } };
    expect(await client.post('/v3/devices/{deviceId}/backfill', one)).toMatchObject({
      stored: 1,
    });
    const none = await client.backfill(device.id, samples.slice(5_001, 5_002));
    expect(none).toMatchObject({ accepted: 0, rejected: [{ index: 0 }] });
    await expect(client.backfill('0000000000000000', samples)).rejects.toMatchObject({
      status: 404,
    });
  });

  test('large ones are gzipped, and the platform reads them', async () => {
    const encodings: unknown[] = [];
    const device = await world.device();
    const send: NonNullable<ClientModule.ClientOptions['fetch']> = (address, request) => {
      encodings.push(request.headers['content-encoding']);
      return fetch(address, request);
    };
    const client = clientOf({ gzipFromBytes: 1_000, fetch: send });
    const samples = Array.from({ length: 100 }, (_, n) => ({ timestamp: 1.7e12 + n, data: { n } }));
    const few = samples.slice(0, 2);
    expect(await client.backfill(device.id, few)).toMatchObject({ accepted: 2 });
    expect(await client.backfill(device.id, samples)).toMatchObject({ accepted: 98 });
    expect(encodings).toEqual([undefined, 'gzip']);
  });

  test('bytes are sent as they are, without a key where it is empty, and any fetch can send them', async () => {
    const seen: unknown[] = [];
    const client = installed.createClient({
      url: 'http://platform/prefix/',
      async fetch(address, { method, headers, body }) {
        seen.push(method, address, headers['idempotency-key'], String(body));
        const json = {
          get: (name: string) => (name === 'content-type' ? 'application/json' : null),
        };
        const text = async () => '{"id":"x"}';
        return { ok: true, status: 201, statusText: '', headers: json, body: null, text };
      },
    });
    const call = { body: new Uint8Array([123, 125]), idempotencyKey: '' };
    expect(await client.post('/v3/capture', call)).toEqual({ id: 'x' });
    expect(seen).toEqual(['POST', 'http://platform/prefix/v3/capture', undefined, '123,125']);
    const raw = await client.send('get', '/v3/about');
    expect([raw.status, await raw.json()]).toEqual([201, { id: 'x' }]);
  });
});

/** A connection to the platform that can be cut. */
async function startCable() {
  const sockets = new Set<Socket>();
  const { port } = new URL(world.base);
  const server = createTcpServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, cut, close: () => (cut(), server.close()) };
}

describe('live stream', () => {
  test('a connection that breaks loses no sample and repeats none', async () => {
    const cable = await startCable();
    const device = await world.device();
    const stopping = new AbortController();
    const client = clientOf({ url: cable.url });
    const subscriptions = [{ assetId: device.id, topic: '*' }];
    const seen: unknown[] = [];
    for await (const message of client.live({ subscriptions, signal: stopping.signal })) {
      if (message.type === 'subscribed' && seen.length === 0) await world.capture(device, { n: 1 });
      if (message.type !== 'sample_insert') continue;
      const data = (message as { sample: { data: unknown } }).sample.data as { n: number };
      seen.push(data.n);
      if (data.n === 1 || data.n === 3) {
        cable.cut();
        // These are stored while the connection is cut.
        await world.capture(device, { n: data.n + 1 });
        await world.capture(device, { n: data.n + 2 });
      }
      if (data.n === 5) stopping.abort();
    }
    expect(seen).toEqual([1, 2, 3, 4, 5]);
    cable.close();
  });

  test('a device that does not exist is refused', async () => {
    const live = clientOf().live({ subscriptions: [{ assetId: '0000000000000000' }] });
    await expect(live.next()).rejects.toThrow(/does not exist, or the credential cannot read it/);
  });

  test('a wrong key ends after the tries', async () => {
    const client = clientOf({ apiKey: 'wrong', triesMax: 1 });
    const live = client.live({ subscriptions: [{ assetId: pump.id }] });
    await expect(live.next()).rejects.toMatchObject({
      status: 0,
      message: expect.stringMatching(/credential/),
    });
  });
});

/** The first sample of a device and its live stream, as a program of any runtime. */
const probe = `async ({ createClient }, options, id, more) => {
  const client = createClient(options);
  const { name } = await client.get('/v3/about');
  const call = { path: { deviceId: id }, body: { limit: 1 } };
  const [stored] = await client.post('/v3/devices/{deviceId}/query', call);
  const subscriptions = [{ assetId: id, topic: '*' }];
  for await (const message of client.live({ subscriptions, since: '2020-01-01T00:00:00Z', ...more }))
    if (message.type === 'sample_insert') return [name, stored.data, message.sample.data];
}`;
const probed = ['Heliograph', { temperature: 21.5 }, { temperature: 21.5 }];

test('Node 20, with the WebSocket of the package ws', async (context) => {
  const node20 = '/usr/bin/node';
  const version = existsSync(node20)
    ? execFileSync(node20, ['--version'], { encoding: 'utf8' })
    : '';
  if (!/^v2[01]\./.test(version)) return context.skip('/usr/bin/node is not Node 20');
  const options = JSON.stringify({ url: world.base, apiKey: world.apiKey });
  const path = join(folder, 'node20.mjs');
  const ws = pathToFileURL(join(root, 'node_modules', 'ws', 'wrapper.mjs')).href;
  writeFileSync(
    path,
    `import * as client from '@heliograph/client';
import { WebSocket } from '${ws}';
const answer = await (${probe})(client, ${options}, '${pump.id}', { webSocket: WebSocket });
console.log(JSON.stringify(answer));`,
  );
  const { stdout } = await promisify(execFile)(node20, [path]);
  expect(JSON.parse(stdout)).toEqual(probed);
});
