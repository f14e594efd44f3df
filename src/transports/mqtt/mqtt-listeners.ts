// MQTT listeners: plain TCP, and TLS when there is a certificate.
import { createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type Server as TlsServer,
  type TLSSocket,
} from 'node:tls';
import type { Certificate } from '../../structures/certificate-watch.ts';
import { mqttLimits } from './mqtt-limits.ts';

const options = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000 } as const;

export interface MqttListener {
  readonly port: number;
  /**
   * New connections get this certificate. Throws, and changes nothing, when it cannot be used. Only
   * of a port that speaks TLS.
   */
  renew(certificate: Certificate): void;
  /** Takes no more connections; those that are open are left alone. */
  close(): void;
}

/**
 * Listens; rejects when the port cannot be had. With a certificate it speaks TLS. Several threads
 * listen to one port with `reusePort`.
 */
export async function listenMqtt(
  where: { readonly host: string; readonly port: number; readonly reusePort?: boolean },
  certificate: Certificate | undefined,
  accept: (socket: Socket, address: string) => void,
): Promise<MqttListener> {
  const taken = (socket: Socket) => {
    // Until somebody reads it, a reset must not be a fault of the process.
    socket.on('error', () => undefined);
    accept(socket, socket.remoteAddress ?? '');
  };
  const server: Server =
    certificate === undefined
      ? createServer(options, taken)
      : createTlsServer(
          {
            ...options,
            ...certificate,
            minVersion: 'TLSv1.2',
            handshakeTimeout: mqttLimits.connectWithinMs,
          },
          (socket) => {
            endCleanly(socket);
            taken(socket);
          },
        );
  // A failed TLS handshake is the client's affair.
  server.on('tlsClientError', (_error, socket: Socket) => socket.destroy());
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ ...where, backlog: mqttLimits.backlog }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : where.port;
  return {
    port,
    renew: (renewed) =>
      (server as TlsServer).setSecureContext({ ...renewed, minVersion: 'TLSv1.2' }),
    close: () => void server.close(),
  };
}

/**
 * The broker destroys what it ends. Without a close_notify the client takes that for an attack or
 * an error.
 */
function endCleanly(socket: TLSSocket): void {
  const destroy = socket.destroy.bind(socket);
  let isEnding = false;
  socket.destroy = (error) => {
    if (error !== undefined || isEnding || !socket.writable) return destroy(error);
    isEnding = true;
    // Nothing more is taken from it.
    socket.removeAllListeners('readable').removeAllListeners('data').pause();
    const late = setTimeout(destroy, mqttLimits.closeWithinMs);
    socket.once('close', () => clearTimeout(late));
    socket.end(() => destroy());
    return socket;
  };
}

// MQTT transport: what the broker uses of a socket, or of a WebSocket that behaves like one.

export interface MqttTransport {
  readonly closed: boolean;
  readonly destroyed: boolean;
  /** Bytes that wait to be sent. */
  readonly writableLength: number;
  /** Bytes of a frame that has arrived in part; absent where there are no frames. */
  readonly heldBytes?: number;
  /** Whether `drain` will follow. */
  readonly writableNeedDrain: boolean;
  /** Returns false when more should be written only after `drain`. */
  write(bytes: Uint8Array): boolean;
  /** Closes after what was written has been sent. */
  end(): unknown;
  destroy(): unknown;
  pause(): unknown;
  resume(): unknown;
  on(event: 'data', listener: (chunk: Buffer) => void): unknown;
  /** `held` comes when `heldBytes` has grown. */
  on(event: 'drain' | 'end' | 'close' | 'held', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  once(event: 'close', listener: () => void): unknown;
}
