// A broker of tests: on a real port, with devices of one connector, and clients that write and read bytes.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { manualTimers } from '../../structures/testing-timers.ts';
import { openMqttBroker } from './mqtt-broker.ts';
import type { BrokerParts } from './mqtt-broker-state.ts';
import { listenMqtt } from './mqtt-listeners.ts';
import type { MqttPayload } from './mqtt-publish.ts';
import { createRetainedMessages } from './mqtt-retained.ts';
import type { RoutedDevice } from './mqtt-session.ts';

export const secret = 'secret';
const connectorId = 'connector';

/** What happened, as words and values in order. */
export type Happened = readonly [what: string, ...about: unknown[]];

export interface TestBroker {
  readonly happened: Happened[];
  readonly broker: ReturnType<typeof openMqttBroker>;
  /** Lets this number of seconds pass. */
  pass(seconds: number): void;
  /** Publishes are stored only after `release`. */
  hold(): { release(): void };
  connect(): Promise<TestClient>;
  close(): Promise<void>;
}

export interface TestClient {
  readonly socket: Socket;
  send(...packets: readonly Buffer[]): void;
  /** Resolves with the next bytes as hexadecimal digits, as many as asked for. */
  read(count: number): Promise<string>;
  /** Resolves when the broker has closed the connection. */
  closed(): Promise<void>;
}

export async function startTestBroker(
  changed: Partial<BrokerParts<RoutedDevice>> = {},
): Promise<TestBroker> {
  const happened: Happened[] = [];
  const timers = manualTimers();
  let held: Promise<void> | undefined;
  const store = async ({ device }: RoutedDevice, { topic, payload }: MqttPayload) => {
    await held;
    happened.push(['stored', device.deviceId, topic, payload.toString()]);
  };
  const broker = openMqttBroker<RoutedDevice>({
    findRoute: (_identity, deviceId) => ({ device: { id: `id-${deviceId}`, deviceId } }),
    store,
    retained: createRetainedMessages(),
    logIn: async (_address, { userName, password }) => {
      if (password !== secret) return { refused: 'wrong' };
      const name = { connectorId, organizationId: userName };
      return { identity: { mode: 'secret', ...name, secret, isSparkplug: false } };
    },
    countWebSocket: () => true,
    connectionCount: { take: () => true, give: () => undefined },
    publishLimit: { hasRoomFor: () => true, count: () => undefined },
    networkOf: (address) => address,
    reachable: (_session, { id }) => void happened.push(['reachable', id]),
    refused: (reason) => void happened.push(['refused', reason]),
    dropped: (_identity, { failure, deviceId, bytes }) =>
      void happened.push(['dropped', failure.status, deviceId, bytes]),
    ended: (reason) => void happened.push(['ended', reason]),
    doubt: () => undefined,
    sparkplug: {
      take: () => Promise.reject(new Error('no connector here is for Sparkplug')),
      subscribed: () => undefined,
      left: () => undefined,
    },
    now: () => 0,
    setTimer: timers.setTimer,
    ...changed,
  });
  const listener = await listenMqtt({ host: '127.0.0.1', port: 0 }, undefined, broker.accept);
  const sockets: Socket[] = [];
  return {
    happened,
    broker,
    pass(seconds) {
      for (let i = 0; i < seconds; i++) timers.fire();
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return { release: resolve };
    },
    async connect() {
      const socket = connect({ port: listener.port, host: '127.0.0.1', noDelay: true });
      sockets.push(socket);
      await once(socket, 'connect');
      return clientOf(socket);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await broker.close();
    },
  };
}

function clientOf(socket: Socket): TestClient {
  const ended = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  socket.on('error', () => undefined);
  let received = '';
  let arrived = () => undefined as void;
  socket.on('data', (bytes: Buffer) => {
    received += bytes.toString('hex');
    arrived();
  });
  return {
    socket,
    send: (...packets) => void socket.write(Buffer.concat(packets)),
    async read(count) {
      while (received.length < 2 * count)
        await new Promise<void>((resolve) => {
          arrived = resolve;
          socket.once('close', () => resolve());
          if (socket.destroyed) throw new Error(`closed after ${received}`);
        });
      const read = received.slice(0, 2 * count);
      received = received.slice(2 * count);
      return read;
    },
    async closed() {
      socket.resume();
      await ended;
    },
  };
}
