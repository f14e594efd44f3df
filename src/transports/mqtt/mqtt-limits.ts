// MQTT limits, each with what happens when it is reached.
import { dayMs } from '../../model/instant.ts';

export const mqttLimits = {
  /** A larger packet ends its connection before it is read. */
  packetBytesMax: 1024 * 1024,
  /** The same before the client has logged in: a token, a will. */
  loginPacketBytesMax: 96 * 1024,
  /**
   * Bytes of packets that have arrived in part, of all connections. Beyond, connections of the
   * organization that holds most are ended.
   */
  partialBytesMax: 256 * 1024 * 1024,
  /** A packet must have arrived within this time of its first byte. */
  packetWithinMs: 30_000,
  /**
   * Concurrent connections of clients that have logged in. Beyond, the organization that has most is
   * refused further ones, or loses some to others.
   */
  connectionsMax: 20_000,
  /** The same of clients that have not, by network. */
  strangersMax: 10_000,
  /**
   * Connections that wait to be accepted, when many devices reconnect at the same time. The system
   * limits it too (`net.core.somaxconn`).
   */
  backlog: 16_384,
  /**
   * Publishes under way of one connection and of all; beyond, nothing more is read from the sockets
   * until some have ended. One organization may have three quarters of them.
   */
  inFlightPerClientMax: 256,
  inFlightMax: 2_048,
  /** Bytes of the publishes in flight of all connections. */
  inFlightBytesMax: 48 * 1024 * 1024,
  /** A further subscription is refused with 128. */
  subscriptionsPerClientMax: 100,
  /** Levels of a topic; more end the connection. */
  topicLevelsMax: 32,
  /** A client identifier that is longer is refused. */
  clientIdLengthMax: 256,
  /**
   * The CONNECT must have come within this time, and so must the TLS handshake and the WebSocket
   * upgrade.
   */
  connectWithinMs: 10_000,
  /**
   * A client that wants to be checked more often or more rarely is checked at these intervals; 0,
   * never, is the longest.
   */
  keepaliveSecondsMin: 5,
  keepaliveSecondsMax: 65_535,
  /** Logins that are checked concurrently; others wait. */
  loginsUnderWayMax: 16,
  /**
   * Subscriptions of clients that asked for a session that outlives the connection: so many, so
   * long. One with much memory counts as several. Beyond, the oldest of the organization that has
   * most is dropped.
   */
  sessionsKeptMax: 20_000,
  sessionKeptBytes: 1_600,
  sessionKeptMs: dayMs,
  /** QoS 2 packets of one client between their two steps; one more ends the connection. */
  halfReceivedPerClientMax: 100,
  /**
   * Messages to one connection that wait for their acknowledgement; another one counts as not
   * deliverable.
   */
  outboundPerClientMax: 100,
  /** After this time without an acknowledgement a message counts as sent only. */
  acknowledgedWithinMs: 10_000,
  /**
   * Whether a client heard of an acknowledgement this shortly before its connection broke is in
   * doubt; of so many at most.
   */
  confirmedAfterMs: 5_000,
  unconfirmedPerClientMax: 1_024,
  /** Bytes that wait for a client; with more, a further message counts as not deliverable. */
  unsentBytesMax: 4 * 1024 * 1024,
  /** A connection that takes nothing for this time is closed. */
  drainWithinMs: 30_000,
  /**
   * How long a stop waits for publishes in flight. Those that wait for the owner of a device that
   * moved take longer; they are not acknowledged, so that their clients send them again elsewhere.
   */
  stopWithinMs: 1_500,
  /** How long a client may take to close a connection that the platform has ended. */
  closeWithinMs: 1_000,
  /**
   * Retained messages: of one device, and the memory of all. Beyond, those of the device are dropped
   * that retained something longest ago, in the organization that holds most.
   */
  retainedPerDeviceMax: 16,
  retainedBytesMax: 32 * 1024 * 1024,
} as const;

// MQTT deadlines: a timer wheel, so that thousands of connections need one timer.

/** What has a deadline; the wheel writes the member. */
export interface Dated {
  /** Second of the wheel in which it is visited; undefined when it is not in the wheel. */
  deadline: number | undefined;
}

/**
 * `visit` returns the second of the next visit; undefined for none. An item whose deadline moves
 * into the future with each packet stays where it is, and `visit` returns its new deadline.
 */
export class Deadlines<T extends Dated> {
  readonly #visit: (item: T, now: number) => number | undefined;
  readonly #slots = new Map<number, Set<T>>();
  #now = 0;

  constructor(visit: (item: T, now: number) => number | undefined) {
    this.#visit = visit;
  }

  /** Call once per second. */
  readonly tick = (): void => {
    this.#now++;
    for (const item of this.#slots.get(this.#now) ?? []) {
      this.remove(item);
      const next = this.#visit(item, this.#now);
      if (next !== undefined) this.place(item, next);
    }
  };

  /** Seconds since the start. They are counted, so changes of the clock do not matter. */
  get now(): number {
    return this.#now;
  }

  /** Visits the item in this second; the next one at the earliest. */
  place(item: T, second: number): void {
    this.remove(item);
    item.deadline = Math.max(second, this.#now + 1);
    const slot = this.#slots.get(item.deadline);
    if (slot === undefined) this.#slots.set(item.deadline, new Set([item]));
    else slot.add(item);
  }

  remove(item: T): void {
    if (item.deadline === undefined) return;
    const slot = this.#slots.get(item.deadline);
    slot?.delete(item);
    if (slot?.size === 0) this.#slots.delete(item.deadline);
    item.deadline = undefined;
  }
}
