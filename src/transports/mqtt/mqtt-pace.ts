// MQTT pace: connections whose secret has sent too much are not read for a while, so that none is ended.
import type { SetTimer } from '../../structures/timers.ts';
import type { MqttIdentity } from './mqtt-login.ts';

/** How many publishes a secret may still send; without it there is no limit. */
export interface PublishLimit {
  readonly hasRoomFor: (id: string) => boolean;
  readonly count: (id: string) => void;
}

/** What has a turn of those that wait. */
export interface Paced {
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
