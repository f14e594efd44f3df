// MQTT flow control: at the limit of publishes in flight, or beyond the pace of their secret, connections are not read.
import { SharedPool } from '../../structures/shared-pool.ts';
import type { SetTimer } from '../../structures/timers.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { MqttIdentity } from './mqtt-login.ts';

// MQTT pace: connections whose secret has sent too much are not read for a while, so that none is ended.

/** How many publishes a secret may still send; without it there is no limit. */
export interface PublishLimit {
  readonly hasRoomFor: (id: string) => boolean;
  readonly count: (id: string) => void;
}

/** What has a turn of those that wait. */
interface Paced {
  readonly identity: MqttIdentity | undefined;
}

/** Time between two looks, in which some publishes become free. */
const roundMs = 50;

/** Clients of MQTT 3.1.1 know no refusal: what they sent stays in the socket, and is acknowledged later. */
export class Pace<T extends Paced> {
  readonly #limit: PublishLimit;
  readonly #setTimer: SetTimer;
  readonly #readOn: (of: T) => void;
  /** By secret, in the order of their turns. */
  readonly #waiting = new Map<string, Set<T>>();
  #isScheduled = false;

  constructor(limit: PublishLimit, setTimer: SetTimer, readOn: (of: T) => void) {
    this.#limit = limit;
    this.#setTimer = setTimer;
    this.#readOn = readOn;
  }

  /** Whether a publish may be read. If not, `readOn` is called when one may. */
  mayPublish(of: T): boolean {
    const id = idOf(of);
    if (id === undefined || this.#limit.hasRoomFor(id)) return true;
    const those = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, those.add(of));
    this.#schedule();
    return false;
  }

  /** A publish was read. */
  count(of: T): void {
    const id = idOf(of);
    if (id !== undefined) this.#limit.count(id);
  }

  /** Call when the connection has ended. */
  leave(of: T): void {
    const id = idOf(of);
    const those = id === undefined ? undefined : this.#waiting.get(id);
    if (id !== undefined && those?.delete(of) && those.size === 0) this.#waiting.delete(id);
  }

  /** The first ones read what is free, and then come behind the others. */
  #round(): void {
    this.#isScheduled = false;
    for (const [id, those] of [...this.#waiting]) {
      const served: T[] = [];
      for (const one of [...those]) {
        if (!this.#limit.hasRoomFor(id)) break;
        those.delete(one);
        served.push(one);
        this.#readOn(one);
      }
      for (const one of served) if (those.delete(one)) those.add(one);
      if (those.size === 0) this.#waiting.delete(id);
    }
    if (this.#waiting.size > 0) this.#schedule();
  }

  #schedule(): void {
    if (!this.#isScheduled) this.#setTimer(() => this.#round(), roundMs);
    this.#isScheduled = true;
  }
}

function idOf({ identity }: Paced): string | undefined {
  if (identity === undefined) return undefined;
  return identity.mode === 'secret' ? identity.connectorId : identity.id;
}

/** What the flow control counts of a connection. */
export interface Flowing {
  /** Whose share it takes: an organization, or a network before the login. */
  readonly owner: string;
  /** Publishes in flight. */
  inFlight: number;
  /** Their bytes. */
  inFlightBytes: number;
}

type FlowLimits = {
  readonly [N in keyof Pick<
    typeof mqttLimits,
    'inFlightMax' | 'inFlightBytesMax' | 'inFlightPerClientMax' | 'partialBytesMax'
  >]: number;
};

interface FlowEvents<T> {
  /** The connection may be read again. */
  readonly readOn: (of: T) => void;
  /** The packet of the connection that has arrived in part must give way. */
  readonly giveWay: (of: T) => void;
}

/** Shared by all connections of a broker. */
export class FlowControl<T extends Flowing> {
  readonly #events: FlowEvents<T>;
  readonly #limits: FlowLimits;
  /** Publishes cannot give way, so that an owner stops while there is room for others. */
  readonly #publishes: SharedPool<T>;
  readonly #bytes: SharedPool<T>;
  readonly #partial: SharedPool<T>;
  /** Connections that wait for a publish of another one: by owner, in the order of their attempts. */
  readonly #waiting = new Map<string, Set<T>>();
  readonly #drainWaiters: (() => void)[] = [];
  #isClosed = false;

  constructor(events: FlowEvents<T>, limits: FlowLimits = mqttLimits) {
    this.#events = events;
    this.#limits = limits;
    this.#publishes = new SharedPool({ max: limits.inFlightMax });
    this.#bytes = new SharedPool({ max: limits.inFlightBytesMax });
    this.#partial = new SharedPool({ max: limits.partialBytesMax, giveWay: events.giveWay });
  }

  /** Publishes in flight. */
  get inFlight(): number {
    return this.#publishes.used;
  }

  /** Whether the next packet may be read. If not, `readOn` is called when it may. */
  mayRead(of: T): boolean {
    if (of.inFlight >= this.#limits.inFlightPerClientMax) return false;
    if (this.#hasRoomFor(of.owner)) return true;
    const those = this.#waiting.get(of.owner) ?? new Set();
    this.#waiting.set(of.owner, those.add(of));
    return false;
  }

  /** A publish of this number of bytes is in flight until `remove`. */
  add(of: T, bytes: number): void {
    this.#count(of, 1, bytes);
  }

  remove(of: T, bytes: number): void {
    this.#count(of, -1, -bytes);
    // A connection at its own limit is read again as soon as it is below.
    if (of.inFlight + 1 === this.#limits.inFlightPerClientMax) this.#events.readOn(of);
    this.#readWaiting();
    if (this.inFlight === 0) for (const drained of this.#drainWaiters.splice(0)) drained();
  }

  /**
   * Stores the memory of the connection's partial packet. False when it must give way, because its
   * owner holds most; packets of others that must give way are told by `giveWay`.
   */
  hold(of: T, bytes: number): boolean {
    if (bytes > 0) return this.#partial.hold(of.owner, of, bytes);
    this.#partial.release(of);
    return true;
  }

  /** Call when the connection has ended; its publishes in flight remain. */
  leave(of: T): void {
    this.#stopWaiting(of);
    this.#partial.release(of);
  }

  /** Stops reading from all connections. Resolves when nothing is in flight. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.inFlight > 0) await new Promise<void>((drained) => this.#drainWaiters.push(drained));
  }

  #hasRoomFor(owner: string): boolean {
    return !this.#isClosed && this.#publishes.hasRoomFor(owner) && this.#bytes.hasRoomFor(owner);
  }

  #count(of: T, publishes: number, bytes: number): void {
    of.inFlight += publishes;
    of.inFlightBytes += bytes;
    if (of.inFlight === 0) {
      this.#publishes.release(of);
      this.#bytes.release(of);
      return;
    }
    this.#publishes.hold(of.owner, of, of.inFlight);
    this.#bytes.hold(of.owner, of, of.inFlightBytes);
  }

  /** Owners take turns, one connection each, while they have room. */
  #readWaiting(): void {
    for (let isAny = this.#waiting.size > 0; isAny; ) {
      isAny = false;
      for (const [owner, those] of [...this.#waiting]) {
        const [next] = those;
        if (next === undefined || !this.#hasRoomFor(owner)) continue;
        this.#stopWaiting(next);
        this.#events.readOn(next);
        isAny = true;
      }
    }
  }

  #stopWaiting(of: T): void {
    const those = this.#waiting.get(of.owner);
    if (those?.delete(of) && those.size === 0) this.#waiting.delete(of.owner);
  }
}
