// Malformed MQTT streams against a running platform: nothing stored, nothing crashes, memory flat.
// node tests/load/mqtt-malformed.ts [--streams 10000] [--seed 1]
import { connect } from 'node:net';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  connectPacket,
  mqttPacket,
  mqttText,
  numberBytes,
  publishPacket,
} from '../../bench/load/mqtt-packets.ts';
import { type MqttDevice, type MqttWorld, startMqttWorld, upTopic } from '../world/mqtt-world.ts';
import { isProgram } from '../../tools/is-program.ts';

export interface MalformedReport {
  readonly streams: number;
  readonly samples: number;
  /** Bytes of live objects more than after the first tenth. */
  readonly grownBytes: number;
  readonly connectionsLeft: number;
  readonly violations: string[];
}

type Random = () => number;

const streamsAtOnce = 25;
const closedWithinMs = 20_000;

/** Random numbers from 0 to 1 that are the same for the same seed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export async function malformedStreams(streams: number, random: Random): Promise<MalformedReport> {
  // Broken logins are failed logins; time passes, so that they do not lock out those that are not
  // broken.
  const clock = { now: Date.now() };
  const world = await startMqttWorld({ now: () => clock.now });
  const violations: string[] = [];
  const uncaught = (error: unknown): void => void violations.push(String(error));
  process.on('uncaughtException', uncaught);
  try {
    const device = await world.mqttDevice();
    const stranger = await world.mqttDevice();
    for (const { connectorId } of [device, stranger])
      await world.must('PUT', `/v3/device-connectors/${connectorId}`, { encoding: 'JSON' });
    let liveBytes = 0;
    for (let done = 0; done < streams; done += streamsAtOnce) {
      clock.now += 60_000;
      await Promise.all(
        Array.from({ length: streamsAtOnce }, () =>
          send(world, streamOf(device, stranger, random), violations),
        ),
      );
      if (liveBytes === 0 && done >= streams / 10) liveBytes = liveBytesNow();
    }
    const grownBytes = liveBytesNow() - liveBytes;
    const samples = (await world.samples(device)).length + (await world.samples(stranger)).length;
    const { body } = await world.call('GET', '/metrics');
    const connectionsLeft = Number(/^heliograph_mqtt_connections (\d+)/m.exec(String(body))?.[1]);
    // A correct client is served as before.
    const client = await world.client(device);
    await client.publishAsync(upTopic(device), '{"value":1}', { qos: 1 });
    return { streams, samples, grownBytes, connectionsLeft, violations };
  } finally {
    process.off('uncaughtException', uncaught);
    await world.close();
  }
}

function liveBytesNow(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Writes the stream, ends it and waits until the platform has closed. */
async function send(
  world: MqttWorld,
  pieces: readonly Buffer[],
  violations: string[],
): Promise<void> {
  await new Promise<void>((resolve) => {
    const socket = connect(world.mqttPort, '127.0.0.1');
    const late = setTimeout(() => {
      violations.push(`not closed: ${Buffer.concat(pieces).toString('hex').slice(0, 400)}`);
      socket.destroy();
    }, closedWithinMs);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearTimeout(late);
      resolve();
    });
    socket.resume();
    for (const piece of pieces) socket.write(piece);
    socket.end();
  });
}

/**
 * Packets, some of them broken, cut into pieces. No payload is JSON, as the connectors declare, so nothing
 * of it may be stored.
 */
function streamOf(device: MqttDevice, stranger: MqttDevice, random: Random): Buffer[] {
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const will = { topic: upTopic(pick([device, stranger])), payload: 'gone' };
  const login = connectPacket({
    clientId: `c${Math.floor(random() * 50)}`,
    userName: device.connectorId,
    password: device.secret,
    clean: random() < 0.5,
    keepaliveSeconds: Math.floor(random() * 100),
    ...(random() < 0.3 ? { will } : {}),
  });
  const number = numberBytes(1 + Math.floor(random() * 5));
  const topics = [
    upTopic(device),
    upTopic(device, '/a/b'),
    upTopic(stranger),
    '/x',
    upTopic(device, '/'.repeat(200)),
  ];
  const filters = [
    `/down/${device.secret}/id/${device.deviceId}/#`,
    '#',
    '+/+',
    '$SYS/#',
    upTopic(device, '/#'),
  ];
  const payload = Buffer.alloc(Math.floor(random() * 300), 'x');
  const filter = mqttText(pick(filters));
  const others = [
    publishPacket(pick(topics), payload, Math.floor(random() * 16), 1 + Math.floor(random() * 5)),
    mqttPacket(0x82, number, filter, Buffer.from([1])),
    mqttPacket(0xa2, number, filter),
    ...[0x40, 0x50, 0x62, 0x70].map((header) => mqttPacket(header, number)),
    mqttPacket(0xc0),
    mqttPacket(0x20, Buffer.from([0, 0])),
    mqttPacket(0xe0),
    login,
  ];
  const packets = [login, ...Array.from({ length: Math.floor(random() * 8) }, () => pick(others))];
  if (random() < 0.2) packets.shift();
  const stream = Buffer.concat(
    packets.map((packet) => (random() < 0.5 ? packet : broken(packet, random))),
  );
  const cut = Math.floor(random() * stream.length);
  return [stream.subarray(0, cut), stream.subarray(cut)].filter(({ length }) => length > 0);
}

function broken(packet: Buffer, random: Random): Buffer {
  const bytes = Buffer.from(packet);
  const at = Math.floor(random() * bytes.length);
  const kind = Math.floor(random() * 6);
  if (kind === 0) return bytes.subarray(0, at);
  if (kind === 1)
    return Buffer.concat([
      bytes,
      Buffer.from([Math.floor(random() * 256), 0xff, 0xff, 0xff, 0x7f]),
    ]);
  if (kind === 2) return Buffer.from(Array.from({ length: 20 }, () => Math.floor(random() * 256)));
  if (kind === 3) bytes[Math.min(1, bytes.length - 1)] = Math.floor(random() * 256);
  else bytes[at] = bytes[at]! ^ (1 << Math.floor(random() * 8));
  return bytes;
}

if (isProgram(import.meta.filename)) {
  const { values } = parseArgs({
    options: {
      streams: { type: 'string', default: '10000' },
      seed: { type: 'string', default: '1' },
    },
  });
  const report = await malformedStreams(Number(values.streams), seededRandom(Number(values.seed)));
  console.log(
    JSON.stringify({ ...report, violations: report.violations.slice(0, 20) }, undefined, 2),
  );
  process.exitCode = report.violations.length === 0 && report.samples === 0 ? 0 : 1;
}
