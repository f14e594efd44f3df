// Live stream through the platform, with edge threads and without, in turns: processor time of each thread for one delivery.
// node bench/live-edges.ts [--edges 0,2] [--rounds 3] [--subscribers 500] [--samples 300] [--write]
import { parseArgs } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { missing } from '../src/structures/missing.ts';
import { httpRequest, mustSucceed, openConnection } from './load/http.ts';
import { figure, markdownTable, median, publish } from './load/measure.ts';
import { apiKey, createDevices, createFlow, withPlatform } from './load/platform.ts';

/** What the thread that subscribes is given. */
interface Order {
  readonly url: string;
  readonly subscribers: number;
  readonly assetId: string;
}

/** Of one delivery, microseconds of processor time. */
interface Round {
  readonly perSecond: number;
  readonly threadUs: ReadonlyMap<string, number>;
}

/** Captures before all their deliveries are waited for. */
const together = 10;
const script = 'function consume(event) { emit("sample", { data: event.data }); }';

if (isMainThread) await run();
else await subscribe(workerData as Order);

/** Tells how many samples came, when asked; first that all are subscribed. */
async function subscribe({ url, subscribers, assetId }: Order): Promise<void> {
  const port = parentPort ?? missing('port of the main thread');
  let received = 0;
  const message = JSON.stringify({ type: 'subscribe', subscriptions: [{ assetId }] });
  for (let at = 0; at < subscribers; at++) {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    const isSubscribed = new Promise<void>((resolve) =>
      socket.on('message', (data: Buffer) => {
        if (data.includes('"sample_insert"')) received++;
        else if (data.includes('"subscribed"')) resolve();
      }),
    );
    await once(socket, 'open');
    socket.send(message);
    await isSubscribed;
  }
  port.on('message', () => port.postMessage(received));
  port.postMessage(received);
}

async function run(): Promise<void> {
  const { values: flags } = parseArgs({
    options: {
      edges: { type: 'string', default: '0,2' },
      rounds: { type: 'string', default: '3' },
      subscribers: { type: 'string', default: '500' },
      samples: { type: 'string', default: '300' },
      write: { type: 'boolean', default: false },
    },
  });
  const subscribers = Number(flags.subscribers);
  const samples = Number(flags.samples);
  const settings = flags.edges.split(',');
  const rounds = new Map<string, Round[]>(settings.map((edges) => [edges, []]));
  for (let round = 0; round < Number(flags.rounds); round++)
    for (const edges of settings)
      rounds.get(edges)?.push(await liveRound(edges, subscribers, samples));
  const us = (all: readonly Round[], name: string) =>
    figure(median(all.map(({ threadUs }) => threadUs.get(name) ?? 0)));
  const rows = [...rounds].map(([edges, all]) => [
    edges,
    figure(median(all.map(({ perSecond }) => perSecond))),
    us(all, 'node-MainThread'),
    us(all, 'edge'),
  ]);
  publish('Live stream with edge threads', [
    `Captures of one device, each sent to ${subscribers} WebSockets on the same machine, ten captures at a time; medians of ${flags.rounds} rounds of ${samples} captures, in turns. Processor time is that of one delivery, with its part of the capture.`,
    markdownTable(['EDGES', 'deliveries a second', 'main thread, us', 'edge threads, us'], rows),
  ]);
}

function liveRound(edges: string, subscribers: number, samples: number): Promise<Round> {
  const settings = { EDGES: edges, LOG_LEVEL: 'warn' };
  return withPlatform(settings, async (platform) => {
    const flow = await createFlow(platform, script);
    const [assetId = missing('device')] = await createDevices(platform, flow, ['live']);
    const { host, port } = platform.target;
    const order: Order = {
      url: `ws://${host}:${port}/v3/data-streams?xApiKey=${apiKey}`,
      subscribers,
      assetId,
    };
    const readers = new Worker(new URL(import.meta.url), { workerData: order });
    await once(readers, 'message');
    const connection = await openConnection(platform.target);
    const capture = httpRequest(
      'POST',
      `/v3/capture?secret=${flow.uplinkSecret}&deviceId=live`,
      { 'content-type': 'application/json' },
      '{"temperature":21.5,"humidity":40,"co2":412}',
    );
    const send = async (count: number, expected: number) => {
      for (let sent = 0; sent < count; sent++) mustSucceed(await connection.send(capture));
      for (let received = 0; received < expected; ) {
        readers.postMessage('count');
        [received] = (await once(readers, 'message')) as [number];
      }
    };
    const { server } = platform;
    await send(together, together * subscribers);
    const before = server.threadsUs();
    const startedAt = performance.now();
    for (let sent = 0; sent < samples; sent += together)
      await send(together, (together + sent + together) * subscribers);
    const seconds = (performance.now() - startedAt) / 1_000;
    const deliveries = samples * subscribers;
    const after = server.threadsUs();
    connection.close();
    await readers.terminate();
    return {
      perSecond: deliveries / seconds,
      threadUs: new Map(
        [...after].map(([name, us]) => [name, (us - (before.get(name) ?? 0)) / deliveries]),
      ),
    };
  });
}
