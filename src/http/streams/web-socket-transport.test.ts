// MQTT over WebSocket: frames are pieces of one stream of bytes, wherever they are cut (MQTT 6).
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { generate } from 'mqtt-packet';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { AcceptMqtt } from '../../transports/mqtt/mqtt-broker-on-demand.ts';
import type { MqttTransport } from '../../transports/mqtt/mqtt-listeners.ts';
import { secret, startTestBroker } from '../../transports/mqtt/testing-mqtt-broker.ts';
import { attachMqttSocket } from './mqtt-socket.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Resolves with the function that connects clients. */
async function serve(accept: AcceptMqtt) {
  const server = createServer();
  const detach = attachMqttSocket(server, {
    accept,
    trustedProxies: [],
    now: () => 0,
    publicUrl: 'http://localhost:1',
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  closers.push(detach, () => server.close());
  return async () => {
    const client = new WebSocket(`ws://127.0.0.1:${port}/mqtt`, 'mqtt');
    closers.push(() => client.terminate());
    await once(client, 'open');
    return client;
  };
}

/** A client, and the connection as the broker gets it. */
async function connected() {
  const accepted = Promise.withResolvers<MqttTransport>();
  const connect = await serve((conn) => accepted.resolve(conn));
  const client = await connect();
  return { client, conn: await accepted.promise };
}

function bytesOf(conn: MqttTransport) {
  const chunks: Buffer[] = [];
  conn.on('data', (chunk) => chunks.push(chunk));
  const until = (length: number) => expect.poll(() => Buffer.concat(chunks).length).toBe(length);
  return { until, text: () => Buffer.concat(chunks).toString() };
}

test('bytes that came before the broker listens wait for it; fragments and frames are one stream', async () => {
  const { client, conn } = await connected();
  client.send(Buffer.from('ab'));
  client.send(Buffer.from('c'), { fin: false });
  client.send(Buffer.from('de'), { fin: true });
  const { until, text } = bytesOf(conn);
  conn.resume();
  await until(5);
  expect(text()).toBe('abcde');
});

test('while paused nothing is read; what the broker writes is one binary frame', async () => {
  const { client, conn } = await connected();
  const { until, text } = bytesOf(conn);
  conn.resume();
  client.send(Buffer.from('a'));
  await until(1);
  conn.pause();
  client.send(Buffer.from('b'));
  conn.write(Buffer.from('xy'));
  const [data, isBinary] = (await once(client, 'message')) as [Buffer, boolean];
  expect([data.toString(), isBinary, text()]).toEqual(['xy', true, 'a']);
  conn.resume();
  await until(2);
});

test('MQTT-6.0.0-1: a frame that is not binary closes the connection', async () => {
  const { client, conn } = await connected();
  conn.resume();
  client.send('not binary');
  const [code] = (await once(client, 'close')) as [number];
  expect(code).toBe(1003);
  await expect.poll(() => conn.closed).toBe(true);
});

test.each([
  ['end', 1005],
  ['destroy', 1006],
] as const)('%s closes with %i, and the transport reports it', async (how, expected) => {
  const { client, conn } = await connected();
  const closed = new Promise<void>((resolve) => void conn.once('close', resolve));
  conn.resume();
  conn[how]();
  const [code] = (await once(client, 'close')) as [number];
  await closed;
  expect([code, conn.closed, conn.destroyed]).toEqual([expected, true, true]);
});

test('a frame above the limit is an error of the connection, which closes', async () => {
  const { client, conn } = await connected();
  const errors: string[] = [];
  conn.on('error', (error) => errors.push(error.message));
  conn.resume();
  client.on('error', () => undefined);
  client.send(Buffer.alloc(3 * 1024 * 1024));
  await once(client, 'close');
  expect(errors).toHaveLength(1);
});

/** Writes to the socket under the WebSocket. */
function writeRaw(client: WebSocket, bytes: Buffer): void {
  (client as unknown as { _socket: { write(bytes: Buffer): void } })._socket.write(bytes);
}

/** The head of a masked binary message of 8,000 bytes, and its first half. */
const halfFrame = Buffer.concat([
  Buffer.from([0x82, 0xfe, 0x1f, 0x40, 1, 2, 3, 4]),
  Buffer.alloc(4_000),
]);

async function loggedIn(connect: () => Promise<WebSocket>, username: string): Promise<WebSocket> {
  const client = await connect();
  const packet = { cmd: 'connect', protocolId: 'MQTT', protocolVersion: 4, keepalive: 0 } as const;
  const password = Buffer.from(secret);
  client.send(generate({ ...packet, clean: true, clientId: '', username, password }));
  await once(client, 'message');
  return client;
}

test('review security 2: frames in part count for the organization, which gives way first', async () => {
  const own = await startTestBroker({ shared: { partialBytesMax: 10_000 } });
  closers.push(() => void own.close());
  const connect = await serve(own.broker.accept);
  const quiet = await loggedIn(connect, 'B');
  writeRaw(quiet, halfFrame);
  const loud: WebSocket[] = [];
  for (let i = 0; i < 6; i++) {
    const client = await loggedIn(connect, 'A');
    writeRaw(client, halfFrame);
    loud.push(client);
  }
  const open = () => loud.filter(({ readyState }) => readyState === WebSocket.OPEN);
  // Of seven frames in part two have room.
  await expect.poll(() => open().length).toBe(1);
  expect(quiet.readyState).toBe(WebSocket.OPEN);
  expect(own.broker.sessions.size).toBe(2);
});

test('review security 2: a frame has thirty seconds to arrive', async () => {
  const own = await startTestBroker();
  closers.push(() => void own.close());
  const client = await loggedIn(await serve(own.broker.accept), 'A');
  writeRaw(client, halfFrame.subarray(0, 1_000));
  const [session] = own.broker.sessions;
  await expect.poll(() => session?.conn.heldBytes).toBe(1_000);
  own.pass(32);
  await once(client, 'close');
  expect(own.happened).toContainEqual(['ended', 'a packet did not arrive whole in time']);
});
