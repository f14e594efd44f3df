// Idle connections: child processes that log in over MQTT, subscribe and then stay silent.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { createWebSocketStream, WebSocket } from 'ws';
import { connectPacket, mqttPacket, mqttText, numberBytes } from './mqtt-packets.ts';

export interface IdleConnections {
  readonly transport: 'tcp' | 'tls' | 'webSocket';
  readonly port: number;
  readonly userName: string;
  readonly password: string;
  /** Physical ids of the devices; each connection subscribes to the messages of one. */
  readonly devices: readonly string[];
  /** Connections that are opened at the same time. */
  readonly atOnce: number;
}

export interface IdleClients {
  /**
   * Opens connections for further devices. Resolves when all are open, with the number of attempts
   * that failed.
   */
  readonly open: (connections: IdleConnections) => Promise<number>;
  /** Connections that are still open. */
  readonly stillOpen: () => Promise<number>;
  readonly stop: () => void;
}

/** Connections of one process: fewer than the usual limit of open files. */
const perProcess = 8_000;
/** Connections from one source address: fewer than the ports that the kernel lends. */
const perAddress = 20_000;
const attemptsMax = 20;
const retryAfterMs = 1_000;

interface Counts {
  readonly open: number;
  /** Attempts since the last answer. */
  readonly failed: number;
}

/** Starts no process before the first connection. */
export function idleClients(): IdleClients {
  const children: { process: ChildProcess; held: number }[] = [];
  const ask = async (child: ChildProcess, message: object): Promise<Counts> => {
    child.send(message);
    const [answer] = (await once(child, 'message')) as [Counts | { error: string }];
    if ('error' in answer) throw new Error(answer.error);
    return answer;
  };
  return {
    async open({ devices, ...rest }) {
      let failed = 0;
      for (let from = 0; from < devices.length; ) {
        let child = children.at(-1);
        if (child === undefined || child.held >= perProcess) {
          child = { process: fork(import.meta.filename, ['child']), held: 0 };
          children.push(child);
        }
        const part = devices.slice(from, from + perProcess - child.held);
        const first = (children.length - 1) * perProcess + child.held;
        const localAddress = `127.0.0.${2 + Math.floor(first / perAddress)}`;
        failed += (await ask(child.process, { ...rest, devices: part, localAddress })).failed;
        child.held += part.length;
        from += part.length;
      }
      return failed;
    },
    async stillOpen() {
      let open = 0;
      for (const { process } of children) open += (await ask(process, {})).open;
      return open;
    },
    stop() {
      for (const { process } of children) process.kill('SIGKILL');
    },
  };
}

type Order = IdleConnections & { readonly localAddress: string };

function dial({ transport, port, localAddress }: Order): Duplex {
  const where = { port, host: '127.0.0.1', localAddress };
  if (transport === 'tcp') return connect({ ...where, noDelay: true });
  if (transport === 'tls') return connectTls({ ...where, rejectUnauthorized: false });
  const url = `ws://127.0.0.1:${port}/mqtt`;
  return createWebSocketStream(
    new WebSocket(url, 'mqtt', { localAddress, perMessageDeflate: false }),
  );
}

/** Tries again as devices do; returns the number of attempts that failed. */
async function openOne(order: Order, deviceId: string, open: Set<Duplex>): Promise<number> {
  for (let failed = 0; ; failed++) {
    const stream = dial(order);
    try {
      await logIn(stream, order, deviceId);
      open.add(stream);
      stream.on('close', () => open.delete(stream));
      return failed;
    } catch (error) {
      stream.destroy();
      if (failed === attemptsMax) throw error;
      await delay(retryAfterMs);
    }
  }
}

async function logIn(stream: Duplex, order: Order, deviceId: string): Promise<void> {
  const { userName, password } = order;
  stream.on('error', () => undefined);
  const login = { clientId: deviceId, userName, password, clean: true, keepaliveSeconds: 3_600 };
  stream.write(connectPacket(login));
  await expectAnswer(stream, 0x20, 3);
  const filter = mqttText(`/down/${password}/id/${deviceId}/#`);
  stream.write(mqttPacket(0x82, numberBytes(1), filter, Buffer.from([1])));
  await expectAnswer(stream, 0x90, 4);
}

async function expectAnswer(stream: Duplex, header: number, codeAt: number): Promise<void> {
  const answer = await new Promise<Buffer>((resolve, reject) => {
    const closed = (): void => reject(new Error('closed without an answer'));
    stream.once('close', closed);
    stream.once('data', (bytes: Buffer) => {
      stream.off('close', closed);
      resolve(bytes);
    });
  });
  if (answer[0] !== header || answer[codeAt]! > 1)
    throw new Error(`refused: ${answer.toString('hex')}`);
}

async function openAll(order: Order, open: Set<Duplex>): Promise<number> {
  const { devices, atOnce } = order;
  let next = 0;
  let failed = 0;
  const lane = async (): Promise<void> => {
    while (next < devices.length) {
      const attempts = await openOne(order, devices[next++]!, open);
      failed += attempts;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return failed;
}

if (process.argv[2] === 'child' && process.send !== undefined) {
  const open = new Set<Duplex>();
  const answer = process.send.bind(process);
  process.on('disconnect', () => process.exit());
  process.on('message', (order: Partial<Order>) => {
    const opened = order.devices === undefined ? Promise.resolve(0) : openAll(order as Order, open);
    opened.then(
      (failed) => answer({ open: open.size, failed }),
      (error: unknown) => answer({ error: String(error) }),
    );
  });
}
