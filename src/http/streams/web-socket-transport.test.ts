// MQTT over WebSocket: frames are pieces of one stream of bytes, wherever they are cut (MQTT 6).
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { MqttTransport } from '../../ingest/mqtt/mqtt-transport.ts';
import { attachMqttSocket } from './mqtt-socket.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A client, and the connection as the broker gets it. */
async function connected() {
  const server = createServer();
  const accepted = Promise.withResolvers<MqttTransport>();
  const detach = attachMqttSocket(server, {
    accept: (conn) => accepted.resolve(conn),
    trustedProxies: [],
    now: () => 0,
    publicUrl: 'http://localhost:1',
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}/mqtt`, 'mqtt');
  closers.push(
    detach,
    () => server.close(),
    () => client.terminate(),
  );
  await once(client, 'open');
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
