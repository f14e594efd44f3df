// NATS transport: a guarded socket for the client, whose server sends a greeting before TLS begins.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ConnectionOptions, Transport } from '@nats-io/transport-node';
import type { Endpoint } from '../target-uri.ts';
import type { EgressGuard } from '../../egress/guard.ts';
import { guardedSocket, type TlsMaterial } from '../guarded-socket.ts';

const greetingBytesMax = 64 * 1024;

/** An open connection whose greeting has been read. */
interface GreetedSocket {
  readonly socket: Socket;
  readonly greeting: Buffer;
}

/** Options of the client with the socket it is to use. */
export type SocketOptions = ConnectionOptions & { readonly greeted: GreetedSocket };

/**
 * Connects, reads the greeting and starts TLS if `tls` is given. Rejects when `signal` aborts
 * before.
 */
export async function greetedSocket(
  egress: EgressGuard,
  endpoint: Endpoint,
  tls: TlsMaterial | undefined,
  signal: AbortSignal,
): Promise<GreetedSocket> {
  const plain = await guardedSocket(egress, endpoint, undefined, signal);
  const stop = (): void => void plain.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const greeting = await greetingOf(plain);
    const asksForTls = /"tls_required":\s*true/.test(greeting.toString());
    if (tls === undefined) {
      if (asksForTls) throw new Error('the server requires TLS; use tls:// in the URI');
      return { socket: plain, greeting };
    }
    const secured = connectTls({ ...tls, host: endpoint.host, socket: plain });
    await once(secured, 'secureConnect');
    return { socket: secured, greeting };
  } catch (error) {
    plain.destroy();
    throw error;
  }
}

function greetingOf(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let read: Buffer = Buffer.alloc(0);
    const settle = (done: () => void): void => {
      for (const event of ['data', 'error', 'close']) socket.removeAllListeners(event);
      done();
    };
    socket.on('error', (error) => settle(() => reject(error)));
    socket.on('close', () => settle(() => reject(new Error('the server closed the connection'))));
    socket.on('data', (chunk: Buffer) => {
      read = Buffer.concat([read, chunk]);
      const isWhole = read.includes('\r\n');
      if (!isWhole && read.length < greetingBytesMax) return;
      socket.pause();
      settle(() => (isWhole ? resolve(read) : reject(new Error('the server does not speak NATS'))));
    });
  });
}

/** Returns a transport whose socket comes with the options of the connection. */
export function createSocketTransport(): Transport {
  const ended = Promise.withResolvers<void | Error>();
  const received: Uint8Array[] = [];
  let arrived = Promise.withResolvers<void>();
  let socket: Socket | undefined;
  let isClosed = false;
  const end = (error?: Error): void => {
    if (isClosed) return;
    isClosed = true;
    if (error !== undefined) transport.closeError = error;
    socket?.destroy();
    arrived.resolve();
    ended.resolve(error);
  };
  const transport: Omit<Transport, 'closeError'> & { closeError?: Error } = {
    lang: 'nats.js',
    version: '3.4.0',
    get isClosed() {
      return isClosed;
    },
    connect(_server, options) {
      const { greeted } = options as SocketOptions;
      socket = greeted.socket;
      received.push(greeted.greeting);
      arrived.resolve();
      let failure: Error | undefined;
      socket.on('error', (error) => {
        failure = error;
      });
      socket.on('close', () => end(failure));
      socket.on('data', (chunk: Buffer) => {
        received.push(chunk);
        arrived.resolve();
      });
      socket.resume();
      if (socket.destroyed) end(new Error('the server closed the connection'));
      return Promise.resolve();
    },
    async *[Symbol.asyncIterator]() {
      while (!isClosed || received.length > 0) {
        await arrived.promise;
        arrived = Promise.withResolvers<void>();
        yield* received.splice(0);
        if (isClosed) return;
      }
    },
    isEncrypted: () => socket !== undefined && 'encrypted' in socket,
    send: (frame) => void socket?.write(frame),
    close(error) {
      end(error);
      return Promise.resolve();
    },
    disconnect: () => end(),
    discard: () => end(),
    closed: () => ended.promise,
  };
  return transport;
}
