// MQTT flow control: at the limit of publishes in flight, connections are not read (TCP back-pressure).
import { mqttLimits } from './mqtt-limits.ts';

/** What the flow control counts of a connection. */
export interface Flowing {
  /** Publishes in flight. */
  inFlight: number;
  /** Memory of the packet that has arrived in part, bytes. */
  heldBytes: number;
}

export interface FlowControl<T extends Flowing> {
  readonly inFlight: number;
  /** Whether the next packet may be read. If not, `readOn` is called when it may. */
  mayRead(of: T): boolean;
  /** A publish of this number of bytes is in flight until `remove`. */
  add(of: T, bytes: number): void;
  remove(of: T, bytes: number): void;
  /**
   * Stores the memory of the connection's partial packet. Returns false when those of all
   * connections are too large.
   */
  hold(of: T, bytes: number): boolean;
  /** Call when the connection has ended; its publishes in flight remain. */
  leave(of: T): void;
  /** Stops reading from all connections. Resolves when nothing is in flight. */
  close(): Promise<void>;
}

export type FlowLimits = Pick<
  typeof mqttLimits,
  'inFlightMax' | 'inFlightBytesMax' | 'inFlightPerClientMax' | 'partialBytesMax'
>;

export function createFlowControl<T extends Flowing>(
  readOn: (of: T) => void,
  limits: { readonly [name in keyof FlowLimits]: number } = mqttLimits,
): FlowControl<T> {
  /** Connections that wait for a publish of another one, in the order of their first attempt. */
  const waiting = new Set<T>();
  const drainWaiters: (() => void)[] = [];
  let inFlight = 0;
  let inFlightBytes = 0;
  let partialBytes = 0;
  let isClosed = false;

  function isFull(): boolean {
    return isClosed || inFlight >= limits.inFlightMax || inFlightBytes >= limits.inFlightBytesMax;
  }

  function hold(of: T, bytes: number): boolean {
    const isMore = bytes > of.heldBytes;
    partialBytes += bytes - of.heldBytes;
    of.heldBytes = bytes;
    return !isMore || partialBytes <= limits.partialBytesMax;
  }

  return {
    get inFlight() {
      return inFlight;
    },
    mayRead(of) {
      if (of.inFlight >= limits.inFlightPerClientMax) return false;
      if (!isFull()) return true;
      waiting.add(of);
      return false;
    },
    add(of, bytes) {
      inFlight++;
      of.inFlight++;
      inFlightBytes += bytes;
    },
    remove(of, bytes) {
      inFlight--;
      inFlightBytes -= bytes;
      // A connection at its own limit is read again as soon as it is below.
      if (of.inFlight-- === limits.inFlightPerClientMax) readOn(of);
      for (const next of waiting) {
        if (isFull()) break;
        waiting.delete(next);
        readOn(next);
      }
      if (inFlight === 0) for (const drained of drainWaiters.splice(0)) drained();
    },
    hold,
    leave(of) {
      waiting.delete(of);
      hold(of, 0);
    },
    async close() {
      isClosed = true;
      if (inFlight > 0) await new Promise<void>((drained) => drainWaiters.push(drained));
    },
  };
}
