// Live fan-out to 1,000 subscribers against raw `ws` broadcasting: latency, and the cost of one frozen reader.
// Run: node bench/live.ts [subscribers]
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { WebSocket, WebSocketServer } from 'ws';
import { DataStreams } from '../src/http/streams/data-streams.ts';
import { FanOut } from '../src/live/sessions/fan-out.ts';
import { testPlaceWatch } from '../src/live/sessions/testing-session.ts';
import { createWorkspaceFanOut } from '../src/live/sessions/workspace-fan-out.ts';
import type { StoredSample } from '../src/model/sample.ts';
import { publish, summarize } from './load/measure.ts';

interface Order {
  readonly url: string;
  readonly sockets: number;
  /** Subscribe socket i to this many devices in turn; 0 sends nothing. */
  readonly devices: number;
  readonly frozen: number;
}

interface Report {
  readonly received: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const stalledMsMax = 30_000;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

if (process.argv[2] === 'client') runClient();
else await runBench(Number(process.argv.slice(2).find((word) => !word.startsWith('-')) ?? 1_000));

function runClient(): void {
  let received = 0;
  let latencies: number[] = [];
  process.on('message', (message: Order | 'report' | 'count' | 'reset' | 'exit') => {
    if (message === 'exit') process.exit(0);
    if (message === 'reset') {
      received = 0;
      latencies = [];
    } else if (message === 'count') {
      process.send!(received);
    } else if (message === 'report') {
      const { p50Ms, p99Ms } = summarize(latencies);
      process.send!({ received, p50Ms, p99Ms } satisfies Report);
    } else {
      void connectAll(message);
    }
  });

  async function connectAll(order: Order): Promise<void> {
    for (let i = 0; i < order.sockets; i++) await connect(order, i);
    process.send!('ready');
  }

  async function connect({ url, devices, frozen }: Order, i: number): Promise<void> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    let live = devices === 0;
    const ready = new Promise<void>((resolve) =>
      socket.on('message', (data: Buffer) => {
        if (live) {
          received++;
          // Every tenth message measures its latency, so that reading them does not slow the reader
          // down.
          if (received % 10 === 0)
            latencies.push(nowMs() - Number(/"sentMs":([\d.]+)/.exec(data.toString())?.[1]));
        } else if (data.includes('"subscribed"')) {
          live = true;
          if (i < frozen) socket.pause();
          resolve();
        }
      }),
    );
    await once(socket, 'open');
    if (devices === 0) return;
    socket.send(
      JSON.stringify({ type: 'subscribe', subscriptions: [{ assetId: `02${i % devices}` }] }),
    );
    await ready;
  }
}

function sampleOf(n: number, device: number, padding = ''): StoredSample {
  return {
    deviceId: `02${device}`,
    topic: 'default',
    timestamp: 1_700_000_000_000 + n,
    data: {
      temperature: 21.5,
      humidity: 40,
      co2: 400 + n,
      batteryLevel: 90,
      occupied: true,
      label: 'office',
      sentMs: nowMs(),
      padding,
    },
    organizationId: '28a',
    workspaceId: '29a',
    dataFlowId: null,
    correlationId: 'c',
    storedAt: 1_700_000_000_000 + n,
    stored: true,
    cursor: String(n).padStart(16, '0'),
  };
}

async function startClient(order: Order): Promise<ChildProcess> {
  const client = fork(fileURLToPath(import.meta.url), ['client'], { execPath: process.execPath });
  client.send(order);
  await once(client, 'message');
  return client;
}

async function ask<Answer>(client: ChildProcess, question: string): Promise<Answer> {
  client.send(question);
  return ((await once(client, 'message')) as [Answer])[0];
}

/** Throws when nothing more comes. */
async function drained(client: ChildProcess, expected: number): Promise<void> {
  let before = -1;
  for (let changedAt = nowMs(); ; ) {
    const received = await ask<number>(client, 'count');
    if (received >= expected) return;
    if (received !== before) changedAt = nowMs();
    else if (nowMs() - changedAt > stalledMsMax)
      throw new Error(`${received} of ${expected} messages came`);
    before = received;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Sends as fast as the readers take it: at most `ahead` samples on their way. Returns deliveries a
 * second.
 */
async function throughput(
  client: ChildProcess,
  { subscribers, count, burst }: { subscribers: number; count: number; burst: number },
  send: (n: number) => void,
) {
  client.send('reset');
  // Its answer comes after the reset, which samples would overtake on their own connections.
  await ask(client, 'count');
  const started = nowMs();
  for (let n = 0; n < count; ) {
    for (let i = 0; i < burst && n < count; i++) send(n++);
    await turn();
    if (n % 100 === 0) await drained(client, (n - 100) * subscribers);
  }
  await drained(client, count * subscribers);
  return (count * subscribers * 1_000) / (nowMs() - started);
}

async function rawWs(subscribers: number, count: number): Promise<number> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = await startClient({ url, sockets: subscribers, devices: 0, frozen: 0 });
  const rate = await throughput(client, { subscribers, count, burst: 1 }, (n) => {
    const { cursor, deviceId, topic, timestamp, data } = sampleOf(n, 0);
    const sample = { deviceId, topic, timestamp: new Date(timestamp).toISOString(), data };
    const text = JSON.stringify({
      type: 'sample_insert',
      cursor,
      sample,
      timestamp: new Date().toISOString(),
    });
    for (const socket of server.clients) socket.send(text);
  });
  client.send('exit');
  server.close();
  return rate;
}

async function openPlatform() {
  const fanOut = new FanOut(createWorkspaceFanOut(Date.now));
  const server = createServer();
  const streams = new DataStreams(server, {
    fanOut,
    authenticate: async () => ({
      kind: 'API_KEY',
      id: '11',
      name: 'k',
      organizationId: '28',
      workspaces: 'all',
      permissions: {},
    }),
    findAssets: async (_, ids) => new Set(ids),
    access: { changes: () => 0, check: () => undefined },
    followable: async () => undefined,
    assetsOfTag: async () => undefined,
    assetsOfPlace: async () => undefined,
    placeWatch: testPlaceWatch(fanOut, {}),
    replay: async function* () {
      yield [];
    },
    now: Date.now,
    publicUrl: 'http://localhost:1',
    failed: (_, error) => console.error(error),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v3/data-streams?xApiKey=k`;
  const close = async () => {
    await streams.close();
    server.close();
  };
  return { fanOut, streams, url, close };
}

async function ours(subscribers: number, count: number, burst: number): Promise<number> {
  const { fanOut, url, close } = await openPlatform();
  const client = await startClient({ url, sockets: subscribers, devices: 1, frozen: 0 });
  const rate = await throughput(client, { subscribers, count, burst }, (n) =>
    fanOut.publish([sampleOf(n + 1, 0)], Date.now()),
  );
  client.send('exit');
  await close();
  return rate;
}

/** 1,000 samples a second for some seconds. */
async function paced(seconds: number, send: (n: number) => void, each: () => void): Promise<void> {
  const started = nowMs();
  for (let n = 0; n < seconds * 1_000; ) {
    for (const due = nowMs() - started; n < due && n < seconds * 1_000; ) send(n++);
    each();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function latency({
  subscribers,
  devices,
  frozen,
  seconds,
  paddingBytes = 0,
}: {
  readonly subscribers: number;
  readonly devices: number;
  readonly frozen: number;
  readonly seconds: number;
  readonly paddingBytes?: number;
}) {
  const { fanOut, streams, url, close } = await openPlatform();
  const client = await startClient({ url, sockets: subscribers, devices, frozen });
  global.gc?.();
  const before = process.memoryUsage().rss;
  const started = nowMs();
  const padding = 'x'.repeat(paddingBytes);
  let growth = 0;
  let cutMs = 0;
  await paced(
    seconds,
    (n) => fanOut.publish([sampleOf(n + 1, n % devices, padding)], Date.now()),
    () => {
      growth = Math.max(growth, process.memoryUsage.rss() - before);
      if (cutMs === 0 && streams.sessions < subscribers) cutMs = nowMs() - started;
    },
  );
  const result = await ask<Report>(client, 'report');
  client.send('exit');
  await close();
  return { ...result, growthMiB: growth / 1_048_576, cutMs };
}

async function runBench(subscribers: number): Promise<void> {
  const lines = [`${subscribers} subscribers on the same machine.`];
  const print = (text: string) => {
    lines.push(text);
    console.error(text);
  };
  const rate = (value: number) => Math.round(value).toLocaleString('en');
  for (let round = 0; round < 2; round++) {
    const raw = await rawWs(subscribers, 600);
    const single = await ours(subscribers, 600, 1);
    const burst = await ours(subscribers, 2_000, 10);
    print(
      `raw ws ${rate(raw)}/s; ours, one sample at a time ${rate(single)}/s (${(single / raw).toFixed(2)}x), ten at a time ${rate(burst)}/s (${(burst / raw).toFixed(2)}x)`,
    );
  }
  const spread = await latency({ subscribers, devices: subscribers, frozen: 0, seconds: 5 });
  print(
    `1,000 samples/s, each to one of ${subscribers}: p50 ${spread.p50Ms.toFixed(2)} ms, p99 ${spread.p99Ms.toFixed(2)} ms, ${spread.received} received`,
  );
  const load = { subscribers: 50, devices: 1, seconds: 15, paddingBytes: 1_000 };
  const shared = await latency({ ...load, frozen: 0 });
  const frozen = await latency({ ...load, frozen: 1 });
  print(
    `1,000 samples/s, of 1 KB, each to 50: p99 ${shared.p99Ms.toFixed(2)} ms, growth ${shared.growthMiB.toFixed(1)} MiB`,
  );
  print(
    `the same with one frozen: p99 ${frozen.p99Ms.toFixed(2)} ms, growth ${frozen.growthMiB.toFixed(1)} MiB, cut after ${(frozen.cutMs / 1000).toFixed(1)} s`,
  );
  publish('Live stream', lines);
  process.exit(0);
}
