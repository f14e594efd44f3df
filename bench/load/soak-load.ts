// Soak load: captures and MQTT publishes at a steady rate, queries, and live sockets, one of which never reads.
import { connectAsync } from 'mqtt';
import { WebSocket } from 'ws';
import { httpRequest, openPatientConnection } from './http.ts';
import { apiKey, type Platform } from './platform.ts';

const tickMs = 20;
const lanes = 32;
const liveSockets = 10;
const mqttShare = 0.25;
const queriesPerSecond = 10;

export interface SoakLoad {
  readonly counts: () => { readonly sent: number; readonly failed: number };
  readonly stop: () => Promise<void>;
}

export interface SoakTarget {
  /** Service ids of the devices; their physical ids are `soak-0` and so on. */
  readonly ids: readonly string[];
  readonly uplinkSecret: string;
  readonly mqtt: { readonly userName: string; readonly password: string };
  readonly mqttPort: number;
  /** Captures over HTTP a second. */
  readonly rate: number;
}

export async function startSoakLoad(platform: Platform, load: SoakTarget): Promise<SoakLoad> {
  const counts = { sent: 0, failed: 0 };
  const closers = [
    await captureSteadily(platform, load, counts),
    await publishSteadily(load, counts),
    await queryOften(platform, load, counts),
    await listen(platform, load),
  ];
  return {
    counts: () => counts,
    async stop() {
      for (const close of closers) await close();
    },
  };
}

type Counts = { sent: number; failed: number };
type Close = () => unknown;

/** Calls `send` so often a second, in ticks; a tick that comes late makes up for it. */
function steadily(perSecond: number, send: (i: number) => void): Close {
  const startedAt = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1_000) * perSecond;
    while (sent < due) send(sent++);
  }, tickMs);
  return () => clearInterval(timer);
}

async function requestSteadily(
  { target }: Platform,
  perSecond: number,
  counts: Counts,
  requestOf: (i: number) => Uint8Array,
): Promise<Close> {
  // Connections that the platform closed because they were idle for long are opened again.
  const connections = await Promise.all(
    Array.from({ length: lanes }, () => openPatientConnection(target)),
  );
  const idle = [...connections];
  let closed = false;
  const stop = steadily(perSecond, (i) => {
    const connection = idle.shift();
    // The rate is the offered load, not a goal: without an idle connection, one message is skipped.
    if (connection === undefined || closed) return;
    counts.sent++;
    void connection.send(Buffer.from(requestOf(i))).then(
      ({ status }) => {
        if (status >= 300) counts.failed++;
        idle.push(connection);
      },
      () => {
        counts.failed++;
        idle.push(connection);
      },
    );
  });
  return () => {
    closed = true;
    stop();
    for (const connection of connections) connection.close();
  };
}

function captureSteadily(platform: Platform, load: SoakTarget, counts: Counts): Promise<Close> {
  const { ids, uplinkSecret, rate } = load;
  return requestSteadily(platform, rate, counts, (i) => {
    const path = `/v3/capture?secret=${uplinkSecret}&deviceId=soak-${i % ids.length}`;
    const body = JSON.stringify({ t: (i % 400) / 10, text: `sample ${i}` });
    return httpRequest('POST', path, { 'content-type': 'application/json' }, body);
  });
}

function queryOften(platform: Platform, { ids }: SoakTarget, counts: Counts): Promise<Close> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const list = JSON.stringify({ organizationId: platform.organizationId });
  return requestSteadily(platform, queriesPerSecond, counts, (i) => {
    const id = ids[i % ids.length]!;
    if (i % 3 === 0) return httpRequest('POST', '/v3/assets/list', headers, list);
    return httpRequest('POST', `/v3/devices/${id}/query?size=100`, headers, '{}');
  });
}

async function publishSteadily(
  { mqtt, mqttPort, rate }: SoakTarget,
  counts: Counts,
): Promise<Close> {
  const client = await connectAsync(`mqtt://127.0.0.1:${mqttPort}`, {
    username: mqtt.userName,
    password: mqtt.password,
    protocolVersion: 4,
  });
  const topic = `/up/${mqtt.password}/id/soak-mqtt`;
  const stop = steadily(rate * mqttShare, (i) => {
    counts.sent++;
    client.publish(topic, JSON.stringify({ t: i % 40 }), { qos: 1 }, (error) => {
      if (error !== undefined && error !== null) counts.failed++;
    });
  });
  return async () => {
    stop();
    await client.endAsync(true);
  };
}

async function listen({ target }: Platform, { ids }: SoakTarget): Promise<Close> {
  const sockets = await Promise.all(
    Array.from({ length: liveSockets + 1 }, async (_, i) => {
      const socket = new WebSocket(`ws://${target.host}:${target.port}/v3/data-streams`, {
        headers: { 'x-api-key': apiKey },
        perMessageDeflate: false,
      });
      socket.on('error', () => undefined);
      await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
      socket.on('message', () => undefined);
      socket.send(
        JSON.stringify({ type: 'subscribe', subscriptions: ids.map((assetId) => ({ assetId })) }),
      );
      // The last socket stops reading, and stays connected until the platform disconnects it.
      if (i === liveSockets) socket.pause();
      return socket;
    }),
  );
  return () => {
    for (const socket of sockets) socket.terminate();
  };
}
