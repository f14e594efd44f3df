// WebSocket transport: a WebSocket as the broker of MQTT uses it, without the buffers of a stream.
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { MqttTransport } from '../../transports/mqtt/mqtt-listeners.ts';

const unsupportedData = 1003;
/** Of a short masked frame (RFC 6455, 5.2). */
const controlHeadBytes = 6;

/**
 * Emits `data` with the contents of binary messages after `resume` has been called, and `held` when
 * a part of one has arrived.
 */
export class WebSocketTransport extends EventEmitter implements MqttTransport {
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
