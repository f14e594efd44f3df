// MQTT over WebSocket on `/mqtt` of the HTTP server (contract 18).
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { EventEmitter } from 'node:events';
import { WebSocket, WebSocketServer } from 'ws';
import { problem, type Problem } from '../../model/problem.ts';
import { mqttLimits } from '../../transports/mqtt/mqtt-limits.ts';
import type { MqttTransport } from '../../transports/mqtt/mqtt-listeners.ts';
import { checkRequestHead, clientAddress } from '../edge/admission.ts';
import { pathOf, refuseBadHandshakes, refuseHandshake } from './handshake.ts';

export const mqttSocketPath = '/mqtt';
const subprotocols = ['mqtt', 'mqttv3.1'];
/** A frame may hold a packet and parts of others. */
const frameBytesMax = mqttLimits.packetBytesMax + 64 * 1024;

/**
 * Serves upgrades of the path; others are left to whoever serves them. The returned function ends
 * that.
 */
export function attachMqttSocket(
  server: Server,
  options: {
    readonly accept: (conn: MqttTransport, address: string, isWebSocket: boolean) => void;
    /** Proxies whose `X-Forwarded-For` is believed. */
    readonly trustedProxies: readonly string[];
    readonly now: () => number;
    readonly publicUrl: string;
  },
): () => void {
  const addressOf = clientAddress(options.trustedProxies);
  const webSockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    clientTracking: false,
    maxPayload: frameBytesMax,
    // A client that names none is served as well; it will speak MQTT or be cut off.
    handleProtocols: (offered) => subprotocols.find((one) => offered.has(one)) ?? false,
  });

  const onUpgrade = (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (pathOf(request) !== mqttSocketPath) return;
    try {
      checkRequestHead(request);
    } catch (refused) {
      refuseHandshake(request, socket, refused as Problem, options);
      return;
    }
    const offered = request.headers['sec-websocket-protocol'];
    if (
      offered !== undefined &&
      !offered.split(',').some((one) => subprotocols.includes(one.trim()))
    ) {
      const refused = problem('invalidRequest', {
        reason: `The WebSocket subprotocol must be ${subprotocols[0]}`,
      });
      refuseHandshake(request, socket, refused, options);
      return;
    }
    webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      options.accept(new WebSocketTransport(webSocket, socket), addressOf(request), true);
    });
  };
  server.on('upgrade', onUpgrade);
  refuseBadHandshakes(webSockets, options);
  return () => void server.off('upgrade', onUpgrade);
}

// WebSocket transport: a WebSocket as the broker of MQTT uses it, without the buffers of a stream.

const unsupportedData = 1003;
/** Of a short masked frame (RFC 6455, 5.2). */
const controlHeadBytes = 6;

/**
 * Emits `data` with the contents of binary messages after `resume` has been called, and `held` when
 * a part of one has arrived.
 */
class WebSocketTransport extends EventEmitter implements MqttTransport {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  #heldBytes = 0;

  /** `socket` is the connection below the WebSocket. */
  constructor(webSocket: WebSocket, socket: Socket) {
    super();
    this.#webSocket = webSocket;
    this.#socket = socket;
    webSocket.pause();
    // Before the WebSocket reads it.
    socket.prependListener('data', (bytes: Buffer) => {
      this.#heldBytes += bytes.length;
    });
    socket.on('data', () => {
      if (this.#heldBytes > 0) this.emit('held');
    });
    const control = (data: Buffer) => {
      this.#heldBytes -= Math.min(controlHeadBytes + data.length, this.#heldBytes);
    };
    webSocket.on('ping', control);
    webSocket.on('pong', control);
    webSocket.on('message', (data: Buffer, isBinary: boolean) => {
      this.#heldBytes = 0;
      // MQTT-6.0.0-1.
      if (isBinary) this.emit('data', data);
      else webSocket.close(unsupportedData);
    });
    webSocket.on('close', () => this.emit('close'));
    // `close` follows. Without a listener an error would be thrown.
    webSocket.on('error', (error) => {
      if (this.listenerCount('error') > 0) this.emit('error', error);
    });
    socket.on('drain', () => this.emit('drain'));
  }

  get closed(): boolean {
    return this.#webSocket.readyState === WebSocket.CLOSED;
  }

  get destroyed(): boolean {
    return this.#webSocket.readyState !== WebSocket.OPEN;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  get writableLength(): number {
    return this.#webSocket.bufferedAmount;
  }

  get writableNeedDrain(): boolean {
    return this.#socket.writableNeedDrain;
  }

  write(bytes: Uint8Array): boolean {
    this.#webSocket.send(bytes, { binary: true });
    return !this.#socket.writableNeedDrain;
  }

  end(): void {
    this.#webSocket.close();
  }

  destroy(): void {
    this.#webSocket.terminate();
  }

  pause(): void {
    this.#webSocket.pause();
  }

  resume(): void {
    this.#webSocket.resume();
  }
}
