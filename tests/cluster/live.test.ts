// Live streams of two nodes: sessions on each get samples of both, and resume on the other one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkedFetch } from '../world/checked-fetch.ts';
import { startCluster, type TestCluster } from '../world/cluster.ts';
import { placedWorkspaces } from '../world/placed-workspaces.ts';
import { type LiveMessage, type LiveSocket, openLive } from '../world/live-socket.ts';
import type { TestDevice, World } from '../world/world.ts';

let cluster: TestCluster;
let world: World;
let workspaceIds: readonly string[];
let devices: readonly TestDevice[];

beforeAll(async () => {
  cluster = await startCluster();
  ({ world } = cluster);
  const made: TestDevice[] = [];
  workspaceIds = await placedWorkspaces(cluster, 6);
  for (const workspaceId of workspaceIds)
    made.push(await world.device({ workspaceId, name: `live ${workspaceId}` }));
  devices = made;
}, 240_000);
afterAll(() => cluster.close());

function open(node: World): Promise<LiveSocket> {
  const { port } = node.platform;
  return openLive(`ws://127.0.0.1:${port}/v3/data-streams?xApiKey=${world.apiKey}`);
}

const subscriptions = () => devices.map(({ id: assetId }) => ({ assetId, topic: '*' }));

let sent = 0;
/** Sends a sample of a device to a node, and returns its number. */
async function capture(node: World, device: TestDevice): Promise<number> {
  const n = (sent += 1);
  const query = new URLSearchParams({ secret: device.secret, deviceId: device.deviceId });
  const address = `http://127.0.0.1:${node.platform.port}`;
  const headers = { 'content-type': 'application/json' };
  const path = `/v3/capture?${query.toString()}`;
  const answer = await checkedFetch(address, 'POST', path, headers, { n });
  expect(answer.status).toBe(201);
  return n;
}

async function captureAll(): Promise<number[]> {
  const numbers: number[] = [];
  for (const [place, device] of devices.entries())
    numbers.push(await capture(cluster.nodes[place % 2] ?? world, device));
  return numbers;
}

const numbersOf = (messages: readonly LiveMessage[]) =>
  messages.map(({ sample }) => sample.data.n as number).toSorted((a, b) => a - b);

async function take(socket: LiveSocket, count: number): Promise<LiveMessage[]> {
  const messages: LiveMessage[] = [];
  while (messages.length < count) {
    const message = await socket.next();
    expect(message.type).toBe('sample_insert');
    messages.push(message);
  }
  return messages;
}

test('sessions on both nodes get samples of devices of both, each once', async () => {
  const sockets = await Promise.all(cluster.nodes.map(open));
  for (const socket of sockets) {
    const message = { type: 'subscribe', subscriptions: subscriptions() };
    expect(await socket.ask(message)).toMatchObject({ type: 'subscribed' });
  }
  const numbers = await captureAll();
  for (const socket of sockets) expect(numbersOf(await take(socket, 6))).toEqual(numbers);
  for (const socket of sockets) {
    expect(await socket.sofar()).toEqual([]);
    socket.close();
  }
});

test('a session resumes on the other node by its cursor: nothing missing, nothing twice', async () => {
  const expected: number[] = [];
  const received: LiveMessage[] = [];
  let since: string | undefined;
  for (let round = 0; round < 8; round++) {
    const node = cluster.nodes[round % 2] ?? world;
    const socket = await open(node);
    const message = { type: 'subscribe', subscriptions: subscriptions(), since };
    expect(await socket.ask(message)).toMatchObject({ type: 'subscribed' });
    const behind = expected.length - received.length;
    if (since !== undefined) received.push(...(await take(socket, behind)));
    expected.push(...(await captureAll()));
    // The session ends before it has got all.
    const count = expected.length - received.length - (round % 4);
    received.push(...(await take(socket, count)));
    since = received.at(-1)?.['cursor'] as string;
    expect(since).toMatch(/^c1~/);
    socket.close();
    for (let n = 0; n < round; n++)
      expected.push(await capture(node, devices[n % 6] ?? devices[0]!));
  }
  const last = await open(world);
  await last.ask({ type: 'subscribe', subscriptions: subscriptions(), since });
  received.push(...(await take(last, expected.length - received.length)));
  expect(numbersOf(received)).toEqual(expected);
  expect(await last.sofar()).toEqual([]);
  last.close();
}, 240_000);

test('a replay by time has the samples of all nodes in the order of storing', async () => {
  const since = new Date().toISOString();
  const numbers = await captureAll();
  for (const node of cluster.nodes) {
    const socket = await open(node);
    await socket.ask({ type: 'subscribe', subscriptions: subscriptions(), since });
    const messages = await take(socket, 6);
    expect(messages.map(({ sample }) => sample.data.n)).toEqual(numbers);
    socket.close();
  }
});

test('samples of workspaces come from the nodes that hold them', async () => {
  const socket = await open(world);
  const followed = workspaceIds.map((workspaceId) => ({ workspaceId, kinds: ['SAMPLE'] }));
  expect(await socket.ask({ type: 'subscribe', subscriptions: followed })).toMatchObject({
    type: 'subscribed',
  });
  const numbers = await captureAll();
  expect(numbersOf(await take(socket, 6))).toEqual(numbers);
  socket.close();
});

test('a cursor of a single process is refused with an error', async () => {
  const socket = await open(world);
  const [item] = subscriptions();
  await socket.ask({ type: 'subscribe', subscriptions: [item], since: '0'.repeat(20) });
  expect(await socket.next()).toMatchObject({ type: 'error' });
  socket.close();
});
