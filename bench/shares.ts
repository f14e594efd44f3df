// Shares: one organization fills what all share; what of another one is lost, over MQTT and CoAP.
// node bench/shares.ts [--partial 300] [--retained 60] [--sessions 20500] [--connections 6000] [--blocks 20000]
import { once } from 'node:events';
import { createSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { generate, type IConnectPacket } from 'mqtt-packet';
import { blockOption, encodeMessage, optionNumbers } from '../src/transports/coap/coap-message.ts';
import { mqttLimits } from '../src/transports/mqtt/mqtt-limits.ts';
import { everyPermission } from '../src/model/principal.ts';
import { askCoap, freeUdpPort } from '../tests/world/coap-device.ts';
import {
  createMqttDevice,
  type MqttDevice,
  startMqttWorld,
  upTopic,
} from '../tests/world/mqtt-world.ts';
import { besidesPlatform, makeKey, makeOrganization } from '../tests/world/restricted-keys.ts';
import { machineShape, markdownTable } from './load/measure.ts';

const { values: flags } = parseArgs({
  options: {
    partial: { type: 'string', default: '300' },
    retained: { type: 'string', default: '60' },
    sessions: { type: 'string', default: '20500' },
    connections: { type: 'string', default: '6000' },
    blocks: { type: 'string', default: '20000' },
  },
});

const coapPort = await freeUdpPort();
const quota = 5_000;
const world = await startMqttWorld({
  environment: { COAP_PORT: String(coapPort), QUOTA_MQTT_CONNECTIONS: String(quota) },
});
const loud = await world.mqttDevice();
const quiet = await otherDevice();

interface Raw {
  readonly socket: Socket;
  readonly connack: Buffer;
}

/** The device of another organization. */
async function otherDevice(): Promise<MqttDevice> {
  const { organizationId, workspaceId, key } = await besidesPlatform(world, async (records) => {
    const place = await makeOrganization(records);
    const wanted = { permissions: everyPermission, organizationId: place.organizationId };
    return { ...place, key: await makeKey(records, world, wanted) };
  });
  const must = async (method: string, path: string, body?: unknown) => {
    const answer = await world.call(method, path, body, { 'x-api-key': key });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status}`);
    return answer.body;
  };
  return createMqttDevice({ organizationId, workspaceId, must }, 1);
}

/** Logs in and leaves the socket to the caller. */
async function login(of: MqttDevice, fields: Partial<IConnectPacket> = {}): Promise<Raw> {
  const socket = connect({ port: world.mqttPort, host: '127.0.0.1', noDelay: true });
  socket.on('error', () => undefined);
  socket.write(
    generate({
      cmd: 'connect',
      protocolId: 'MQTT',
      protocolVersion: 4,
      clean: true,
      clientId: 'c',
      keepalive: 65_535,
      username: of.connectorId,
      password: Buffer.from(of.secret),
      ...fields,
    }),
  );
  const [connack] = (await Promise.race([
    once(socket, 'data'),
    once(socket, 'close').then(() => [Buffer.alloc(4, 3)]),
  ])) as [Buffer];
  return { socket, connack };
}

async function inGroups<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const done: T[] = [];
  for (let n = 0; n < count; n += 50) {
    const group = Array.from({ length: Math.min(50, count - n) }, (_, i) => work(n + i));
    done.push(...(await Promise.all(group)));
  }
  return done;
}

const publishOf = (of: MqttDevice, payload: Buffer, more = {}) =>
  generate({
    cmd: 'publish',
    topic: upTopic(of),
    payload,
    qos: 1,
    messageId: 1,
    dup: false,
    retain: false,
    ...more,
  });

/** Publishes in two segments; of `count`, how many are acknowledged. */
async function divided(count: number): Promise<number> {
  let acknowledged = 0;
  for (let n = 0; n < count; n++) {
    const { socket } = await login(quiet, { clientId: `quiet ${n}` });
    const text = JSON.stringify({ text: 'x'.repeat(1_500 + 20_000 * n) });
    const bytes = publishOf(quiet, Buffer.from(text));
    socket.write(bytes.subarray(0, 1_000));
    await wait(50);
    socket.write(bytes.subarray(1_000));
    const isAnswered = await Promise.race([
      once(socket, 'data').then(() => true),
      once(socket, 'close').then(() => false),
    ]);
    if (isAnswered) acknowledged++;
    socket.destroy();
  }
  return acknowledged;
}

async function partialPackets(): Promise<string> {
  const half = publishOf(loud, Buffer.alloc(mqttLimits.packetBytesMax - 1_000));
  const sockets = await inGroups(Number(flags.partial), async (n) => {
    const { socket } = await login(loud, { clientId: `partial ${n}` });
    socket.write(half.subarray(0, -2));
    return socket;
  });
  await wait(1_000);
  const acknowledged = await divided(7);
  const left = sockets.filter((socket) => !socket.destroyed && !socket.closed).length;
  for (const socket of sockets) socket.destroy();
  return `${acknowledged} of 7 divided publishes acknowledged; ${left} of ${sockets.length} attackers left`;
}

async function retained(): Promise<string> {
  const own = await world.client(quiet);
  await own.publishAsync(upTopic(quiet, '/state'), '{"on":true}', { qos: 1, retain: true });
  const devices = [loud];
  for (let n = 100; devices.length * 16 < Number(flags.retained); n++)
    devices.push(await createMqttDevice(world, n, { beside: loud }));
  const client = await world.client(loud);
  for (let n = 0; n < Number(flags.retained); n++) {
    const device = devices[n >> 4] ?? loud;
    const payload = JSON.stringify({ text: 'x'.repeat(900_000) });
    await client.publishAsync(upTopic(device, `/t${n}`), payload, { qos: 1, retain: true });
  }
  let found = 0;
  own.on('message', () => void found++);
  await own.subscribeAsync(upTopic(quiet, '/#'));
  await wait(500);
  return found > 0 ? 'its retained message is there' : 'its retained message is gone';
}

async function sessions(): Promise<string> {
  const keep = async (of: MqttDevice, clientId: string) => {
    const { socket, connack } = await login(of, { clientId, clean: false });
    const topic = `/down/${of.secret}/id/${of.deviceId}/#`;
    socket.write(
      Buffer.concat([
        generate({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 1 }] }),
        generate({ cmd: 'disconnect' }),
      ]),
    );
    await once(socket, 'close');
    return connack[2] === 1;
  };
  await keep(quiet, 'kept');
  await inGroups(Number(flags.sessions), (n) => keep(loud, `kept ${n}`));
  return (await keep(quiet, 'kept')) ? 'its session is there' : 'its session is gone';
}

async function connections(): Promise<string> {
  const opened = await inGroups(Number(flags.connections), (n) =>
    login(loud, { clientId: `open ${n}` }),
  );
  const accepted = opened.filter(({ connack }) => connack[3] === 0).length;
  const { connack } = await login(quiet, { clientId: 'late' });
  for (const { socket } of opened) socket.destroy();
  const answer = connack[3] === 0 ? 'accepted' : 'refused';
  return `${accepted} of ${opened.length} attackers accepted (quota ${quota}); its connection is ${answer}`;
}

async function blocks(): Promise<string> {
  const coap = createSocket('udp4');
  coap.bind(0);
  await once(coap, 'listening');
  const query = (name: string, value: string) => ({
    number: optionNumbers.uriQuery,
    value: Buffer.from(`${name}=${value}`),
  });
  let sent = 0;
  let isOver = false;
  const flood = (async () => {
    while (!isOver && sent < Number(flags.blocks)) {
      for (let n = 0; n < 100; n++) {
        const token = Buffer.alloc(4);
        token.writeUInt32BE(++sent);
        const options = [
          { number: optionNumbers.uriPath, value: Buffer.from('v3') },
          { number: optionNumbers.uriPath, value: Buffer.from('capture') },
          query('secret', loud.secret),
          query('deviceId', loud.deviceId),
          query('topic', `t${sent}`),
          blockOption('block1', { number: 0, more: true, bytes: 512 }),
        ].toSorted((a, b) => a.number - b.number);
        const message = { type: 1, code: 2, id: sent % 65_536, token, options } as const;
        coap.send(
          encodeMessage({ ...message, payload: Buffer.alloc(512, 'x') }),
          coapPort,
          '127.0.0.1',
        );
      }
      await wait(15);
    }
  })();
  let answered = 0;
  const options = { 'Content-Format': 'application/json', Block1: Buffer.from([6]) };
  for (let n = 0; n < 4; n++) {
    const body = JSON.stringify({ text: 'x'.repeat(5_000) });
    const ids = { secret: quiet.secret, deviceId: quiet.deviceId };
    const answer = await Promise.race([
      askCoap(coapPort, { query: ids, body, options }),
      wait(20_000, { code: 'none' }),
    ]);
    if (answer.code === '2.01') answered++;
  }
  isOver = true;
  await flood;
  coap.close();
  return `${answered} of 4 uplinks in blocks stored during ${sent} first blocks`;
}

try {
  const rows: string[][] = [];
  const attacks = {
    [`${flags.partial} packets of 1 MiB in part`]: partialPackets,
    [`${flags.retained} retained messages of 0.9 MB`]: retained,
    [`${flags.sessions} kept sessions`]: sessions,
    [`${flags.connections} connections`]: connections,
    'first blocks of CoAP': blocks,
  };
  for (const [attack, run] of Object.entries(attacks)) {
    const startedAt = performance.now();
    const outcome = await run();
    rows.push([attack, outcome, `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`]);
    console.error(rows.at(-1)?.join(': '));
  }
  console.log(
    `${machineShape()}\n\n${markdownTable(['attack', 'of the other one', 'took'], rows)}`,
  );
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await world.close();
}
process.exit();
