// Silent nodes: over sockets, what waits for a node ends when it does not answer, and not before.
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createHttpNodes } from './http/http-nodes.ts';
import { InternalPort } from './http/internal-port.ts';
import type { ForwardedRequest } from './nodes.ts';
import { presenceHandlers, withoutSilentNodes } from './unresponsive-nodes.ts';

const secret = 'a long and random secret of the tests 0123456789';
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A node whose work the test ends, behind a wire that can be silent. */
async function world(handlers = presenceHandlers) {
  const work = Promise.withResolvers<unknown>();
  const port = new InternalPort({
    id: 'b',
    secret,
    servesMqtt: () => true,
    acceptMqtt: (socket) => void socket.destroy(),
    holds: () => true,
    feeds: new Map(),
    refused: () => undefined,
    failed: () => undefined,
    handlers: new Map([...handlers, ['work', () => work.promise]]),
    serve: (_, response) => void work.promise.then(() => response.end('done')),
  });
  closers.push(() => port.close());
  const target = await port.listen({ host: '127.0.0.1', port: 0 });
  const wire = { isSilent: false, bytes: 0 };
  const proxy = createServer((client) => {
    const node = connect(target, '127.0.0.1');
    closers.push(() => client.destroy().destroyed && node.destroy());
    for (const socket of [client, node]) socket.on('error', () => undefined);
    client.on('data', (bytes) => {
      wire.bytes += bytes.length;
      if (!wire.isSilent) node.write(bytes);
    });
    node.on('data', (bytes) => wire.isSilent || client.write(bytes));
  }).listen(0, '127.0.0.1');
  closers.push(() => proxy.close());
  await once(proxy, 'listening');
  const to = { id: 'b', url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
  let tick = (): void => undefined;
  const owners = new Set(['b']);
  const nodes = withoutSilentNodes(createHttpNodes({ id: 'a', secret }), {
    isOwner: (id) => owners.has(id),
    answerMsMax: 200,
    setRepeatingTimer: (task) => {
      tick = task;
      return () => undefined;
    },
  });
  closers.push(() => nodes.close());
  return { nodes, to, work, wire, owners, tick: () => tick() };
}

const request = (): ForwardedRequest => ({
  method: 'POST',
  url: '/',
  headers: [],
  body: undefined,
  remoteAddress: '203.0.113.7',
  lease: 'workspaces/1',
  signal: new AbortController().signal,
});

/** Whether it has settled when everything that is ready was done. */
async function isSettled(work: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settled = () => void (isSettled = true);
  work.then(settled, settled);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  return isSettled;
}

type World = Awaited<ReturnType<typeof world>>;
const kinds: readonly [string, (world: World) => Promise<unknown>][] = [
  ['a call', ({ nodes, to }) => nodes.call(to, 'work', null)],
  ['a forwarded request', ({ nodes, to }) => nodes.forward(to, request())],
];

test('reliability 9: a request of a client to a silent node ends, also while that node owns leases', async () => {
  const on = await world();
  const call = on.nodes.call(on.to, 'work', null);
  const begun = on.nodes.forward(on.to, request());
  await expect.poll(() => on.wire.bytes).toBeGreaterThan(0);
  on.wire.isSilent = true;
  on.tick();
  await expect(begun).rejects.toMatchObject({ name: 'NodeUnreachable', wasSent: true });
  // Who calls waits for the takeover.
  expect(await isSettled(call)).toBe(false);
  on.owners.clear();
  on.tick();
  await expect(call).rejects.toMatchObject({ name: 'NodeUnreachable', wasSent: true });
});

test.each(kinds)('%s ends when the node owns nothing and is silent', async (_, begin) => {
  const on = await world();
  const begun = begin(on);
  await expect.poll(() => on.wire.bytes).toBeGreaterThan(0);
  on.wire.isSilent = true;
  on.owners.clear();
  const since = performance.now();
  on.tick();
  await expect(begun).rejects.toMatchObject({ name: 'NodeUnreachable', wasSent: true });
  expect(performance.now() - since).toBeLessThan(5_000);
});

test.each(kinds)(
  '%s to a node that gave its leases away, but answers, is waited for',
  async (_, begin) => {
    const on = await world();
    const begun = begin(on);
    await expect.poll(() => on.wire.bytes).toBeGreaterThan(0);
    on.owners.clear();
    const before = on.wire.bytes;
    on.tick();
    await expect.poll(() => on.wire.bytes).toBeGreaterThan(before);
    // Its answer comes later than that to the question before.
    await on.nodes.call(on.to, 'presence', null);
    expect(await isSettled(begun)).toBe(false);
    on.work.resolve('done');
    await expect(begun).resolves.toBeTruthy();
  },
);

test('a node that does not know the question is there', async () => {
  const on = await world(new Map());
  const begun = on.nodes.call(on.to, 'work', null);
  await expect.poll(() => on.wire.bytes).toBeGreaterThan(0);
  on.owners.clear();
  on.tick();
  await expect(on.nodes.call(on.to, 'presence', null)).rejects.toThrow('Unknown call');
  expect(await isSettled(begun)).toBe(false);
  on.work.resolve('done');
  await expect(begun).resolves.toBe('done');
});

test('what begins while the node is asked waits for the next question', async () => {
  const on = await world();
  on.wire.isSilent = true;
  on.owners.clear();
  const first = on.nodes.call(on.to, 'work', null);
  on.tick();
  const second = on.nodes.call(on.to, 'work', null);
  await expect(first).rejects.toMatchObject({ name: 'NodeUnreachable' });
  expect(await isSettled(second)).toBe(false);
  on.tick();
  await expect(second).rejects.toMatchObject({ name: 'NodeUnreachable' });
});

test('a client that leaves ends its request', async () => {
  const on = await world();
  const client = new AbortController();
  const begun = on.nodes.forward(on.to, { ...request(), signal: client.signal });
  await expect.poll(() => on.wire.bytes).toBeGreaterThan(0);
  client.abort();
  await expect(begun).rejects.toMatchObject({ name: 'NodeUnreachable' });
});
