// A broker of tests: on a real port, with devices of one connector, and clients that write and read bytes.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { manualTimers } from '../../structures/testing-timers.ts';
import { MqttBroker } from './mqtt-broker.ts';
import type { BrokerParts } from './mqtt-broker-state.ts';
import { listenMqtt } from './mqtt-listeners.ts';
import type { MqttPayload } from './mqtt-publish.ts';
import { Retained } from './mqtt-retained.ts';
import { type RoutedDevice, SessionStore } from './mqtt-session.ts';

export const secret = 'secret';
const connectorId = 'connector';

/** What happened, as words and values in order. */
type Happened = readonly [what: string, ...about: unknown[]];

export interface TestBroker {
  readonly happened: Happened[];
  readonly broker: MqttBroker;
  readonly keptSessions: SessionStore;
  readonly port: number;
  /** Lets this number of seconds pass. */
  pass(seconds: number): void;
  /** Publishes are stored only after `release`. */
  hold(): { release(): void };
  connect(): Promise<TestClient>;
  close(): Promise<void>;
}

export async function startTestBroker(
  changed: Partial<BrokerParts<RoutedDevice>> = {},
): Promise<TestBroker> {
  const happened: Happened[] = [];
  const timers = manualTimers();
  let held: Promise<void> | undefined;
  const keptSessions = new SessionStore(() => 0);
  const store = async ({ device }: RoutedDevice, { topic, payload }: MqttPayload) => {
    await held;
    happened.push(['stored', device.deviceId, topic, payload.toString()]);
  };
  const broker = new MqttBroker<RoutedDevice>({
    findRoute: (_identity, deviceId) => ({ device: { id: `id-${deviceId}`, deviceId } }),
    store,
    retained: new Retained(),
    keptSessions,
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
    keptSessions,
    port: listener.port,
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
      return new TestClient(socket);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await broker.close();
    },
  };
}

export class TestClient {
  readonly socket: Socket;
  readonly #ended: Promise<void>;
  #received = '';
  #arrived = () => undefined as void;

  constructor(socket: Socket) {
    this.socket = socket;
    this.#ended = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.on('data', (bytes: Buffer) => {
      this.#received += bytes.toString('hex');
      this.#arrived();
    });
  }

  send(...packets: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(packets));
  }

  /** Resolves with the next bytes as hexadecimal digits, as many as asked for. */
  async read(count: number): Promise<string> {
    while (this.#received.length < 2 * count)
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
        this.socket.once('close', () => resolve());
        if (this.socket.destroyed) throw new Error(`closed after ${this.#received}`);
      });
    const read = this.#received.slice(0, 2 * count);
    this.#received = this.#received.slice(2 * count);
    return read;
  }

  /** Resolves when the broker has closed the connection. */
  async closed(): Promise<void> {
    this.socket.resume();
    await this.#ended;
  }
}
