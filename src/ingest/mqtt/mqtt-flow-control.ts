// How much of MQTT may be under way at once: beyond it sockets are not read, so that TCP holds the senders back.
import type { Duplex } from 'node:stream';
import { mqttLimits } from './mqtt-limits.ts';
import { packetSizes } from './mqtt-packet-sizes.ts';

/** Bytes of the publishes under way of all connections. */
const inFlightBytesMax = 48 * 1024 * 1024;

/** One connection's way through the gate. */
export interface Passage {
  /** A publish of so many bytes is under way until `leave`. */
  enter(bytes: number): void;
  leave(bytes: number): void;
  /** From now on packets may be as large as those of devices. */
  loggedIn(): void;
  close(): void;
}

export interface Gate {
  /** Stands between the socket and whoever reads it. `broken` is told once why the connection must end. */
  stand(conn: Duplex, broken: (why: string) => void): Passage;
  readonly inFlight: number;
  /** Nothing more is read from any connection; resolves when nothing is under way. */
  close(): Promise<void>;
}

export interface GateLimits {
  readonly inFlightMax: number;
  readonly inFlightPerClientMax: number;
}

export function createGate(limits: GateLimits = mqttLimits): Gate {
  let inFlight = 0;
  let inFlightBytes = 0;
  let partialBytes = 0;
  // Connections that wanted to be read and may not yet, longest first.
  const held = new Set<() => void>();
  const drainWaiters: (() => void)[] = [];

  let isClosed = false;
  const isFull = () =>
    isClosed || inFlight >= limits.inFlightMax || inFlightBytes >= inFlightBytesMax;

  function letIn(): void {
    for (const read of held) {
      if (isFull()) return;
      held.delete(read);
      read();
    }
  }

  function stand(conn: Duplex, broken: (why: string) => void): Passage {
    const sizes = packetSizes(mqttLimits.loginPacketBytesMax);
    const readNow = conn.read.bind(conn);
    let mine = 0;
    let isOver = false;
    const again = () => void conn.emit('readable');

    function checked(chunk: Buffer): Buffer | null {
      partialBytes -= sizes.held;
      const wrong = sizes.accept(chunk);
      partialBytes += sizes.held;
      if (wrong === undefined && partialBytes <= mqttLimits.partialBytesMax) return chunk;
      broken(wrong ?? 'too many packets have arrived in part');
      return null;
    }

    conn.read = (size?: number): unknown => {
      // Zero is how the stream itself asks its source for more.
      if (size === 0) return readNow(0);
      if (isOver) return null;
      if (mine >= limits.inFlightPerClientMax) return null;
      if (isFull()) {
        held.add(again);
        return null;
      }
      const bytes = everything(readNow);
      return bytes === undefined ? null : checked(bytes);
    };

    return {
      enter(bytes) {
        inFlight++;
        mine++;
        inFlightBytes += bytes;
      },
      leave(bytes) {
        inFlight--;
        inFlightBytes -= bytes;
        // Whoever was too far ahead is asked again as soon as it is not.
        if (mine-- === limits.inFlightPerClientMax && !isOver) again();
        if (held.size > 0) letIn();
        if (inFlight === 0) for (const done of drainWaiters.splice(0)) done();
      },
      loggedIn() {
        sizes.limit(mqttLimits.packetBytesMax);
      },
      close() {
        if (isOver) return;
        isOver = true;
        partialBytes -= sizes.held;
        held.delete(again);
      },
    };
  }

  return {
    stand,
    get inFlight() {
      return inFlight;
    },
    close() {
      isClosed = true;
      return inFlight === 0 ? Promise.resolve() : new Promise((done) => drainWaiters.push(done));
    },
  };
}

/** All that has arrived: the stream hands it out piece by piece, and tells of new bytes only, not of pieces left behind. */
function everything(readNow: () => unknown): Buffer | undefined {
  const first = readNow() as Buffer | null;
  if (first === null) return undefined;
  const pieces = [first];
  for (let piece = readNow(); piece !== null; piece = readNow()) pieces.push(piece as Buffer);
  return pieces.length === 1 ? first : Buffer.concat(pieces);
}
