// MQTT flow control: at the limit of publishes in flight, sockets are not read (TCP back-pressure).
import type { Duplex } from 'node:stream';
import { mqttLimits } from './mqtt-limits.ts';
import { packetSizes } from './mqtt-packet-sizes.ts';

/** Bytes of the publishes in flight of all connections. */
const inFlightBytesMax = 48 * 1024 * 1024;

/** Publishes in flight of one connection. */
export interface InFlightTracker {
  /** A publish of so many bytes is in flight until `remove`. */
  add(bytes: number): void;
  remove(bytes: number): void;
  /** From now on packets may be as large as those of devices. */
  loggedIn(): void;
  close(): void;
}

export interface FlowControl {
  /**
   * Call before anything reads the socket. `broken` is called once with the reason why the
   * connection must end.
   */
  attach(conn: Duplex, broken: (why: string) => void): InFlightTracker;
  readonly inFlight: number;
  /** Stops reading from all connections. Resolves when nothing is in flight. */
  close(): Promise<void>;
}

export interface FlowLimits {
  readonly inFlightMax: number;
  readonly inFlightPerClientMax: number;
}

/** What all connections share. */
interface FlowState {
  readonly limits: FlowLimits;
  inFlight: number;
  inFlightBytes: number;
  /** Bytes of packets that have arrived in part. */
  partialBytes: number;
  isClosed: boolean;
  /** Connections that have bytes to read and must wait, in the order of their first attempt. */
  readonly waiting: Set<() => void>;
  readonly drainWaiters: (() => void)[];
}

export function createFlowControl(limits: FlowLimits = mqttLimits): FlowControl {
  const state: FlowState = {
    limits,
    inFlight: 0,
    inFlightBytes: 0,
    partialBytes: 0,
    isClosed: false,
    waiting: new Set(),
    drainWaiters: [],
  };
  return {
    attach: (conn, broken) => attach(state, conn, broken),
    get inFlight() {
      return state.inFlight;
    },
    async close() {
      state.isClosed = true;
      if (state.inFlight > 0)
        await new Promise<void>((drained) => state.drainWaiters.push(drained));
    },
  };
}

function isFull({ limits, inFlight, inFlightBytes, isClosed }: FlowState): boolean {
  return isClosed || inFlight >= limits.inFlightMax || inFlightBytes >= inFlightBytesMax;
}

function resumeWaiting(state: FlowState): void {
  for (const readAgain of state.waiting) {
    if (isFull(state)) return;
    state.waiting.delete(readAgain);
    readAgain();
  }
}

function attach(state: FlowState, conn: Duplex, broken: (why: string) => void): InFlightTracker {
  const { limits, waiting } = state;
  const sizes = packetSizes(mqttLimits.loginPacketBytesMax);
  const readNow = conn.read.bind(conn);
  let ownInFlight = 0;
  let isClosed = false;
  const readAgain = () => void conn.emit('readable');

  function checked(chunk: Buffer): Buffer | null {
    state.partialBytes -= sizes.held;
    const wrong = sizes.accept(chunk);
    state.partialBytes += sizes.held;
    if (wrong === undefined && state.partialBytes <= mqttLimits.partialBytesMax) return chunk;
    broken(wrong ?? 'too many packets have arrived in part');
    return null;
  }

  conn.read = (size?: number): unknown => {
    // The stream itself asks its source for more with a size of 0.
    if (size === 0) return readNow(0);
    if (isClosed || ownInFlight >= limits.inFlightPerClientMax) return null;
    if (isFull(state)) {
      waiting.add(readAgain);
      return null;
    }
    const bytes = readAll(readNow);
    return bytes && checked(bytes);
  };

  return {
    add(bytes) {
      state.inFlight++;
      ownInFlight++;
      state.inFlightBytes += bytes;
    },
    remove(bytes) {
      state.inFlight--;
      state.inFlightBytes -= bytes;
      // A connection at its own limit is read again as soon as it is below.
      if (ownInFlight-- === limits.inFlightPerClientMax && !isClosed) readAgain();
      if (waiting.size > 0) resumeWaiting(state);
      if (state.inFlight === 0) for (const drained of state.drainWaiters.splice(0)) drained();
    },
    loggedIn: () => sizes.limit(mqttLimits.packetBytesMax),
    close() {
      if (isClosed) return;
      isClosed = true;
      state.partialBytes -= sizes.held;
      waiting.delete(readAgain);
    },
  };
}

/**
 * Returns everything that has arrived, null for nothing: the stream signals new bytes only, not
 * pieces that were left behind.
 */
function readAll(readNow: () => unknown): Buffer | null {
  const first = readNow() as Buffer | null;
  if (first === null) return null;
  const pieces = [first];
  for (let piece = readNow(); piece !== null; piece = readNow()) pieces.push(piece as Buffer);
  if (pieces.length === 1) return first;
  return Buffer.concat(pieces);
}
