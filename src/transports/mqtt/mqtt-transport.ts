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
