// Bounded intake: limits the uplinks in progress, with a share for each organization, and keeps the order of each device.
import { problem } from '../model/problem.ts';
import { leavesRoom } from '../structures/shared-pool.ts';

interface IntakeLimits {
  readonly uplinksMax: number;
  readonly bytesMax: number;
}

export const intakeLimits: IntakeLimits = { uplinksMax: 4_096, bytesMax: 128 * 1024 * 1024 };

interface Share {
  uplinks: number;
  bytes: number;
}

export class Intake {
  readonly #limits: IntakeLimits;
  /** By device: resolves when the uplink before has been handed to the store, or refused. */
  readonly #tails = new Map<string, Promise<void>>();
  readonly #drainWaiters: (() => void)[] = [];
  /** What each organization has in progress. */
  readonly #shares = new Map<string, Share>();
  #uplinks = 0;
  #bytesHeld = 0;

  constructor(limits: IntakeLimits) {
    this.#limits = limits;
  }

  /** Resolves when nothing is under way. */
  readonly drained = (): Promise<void> => {
    if (this.#uplinks === 0) return Promise.resolve();
    return new Promise((done) => this.#drainWaiters.push(done));
  };

  /**
   * Runs the work of one uplink. `decode` of one device runs after the one before it ended, and
   * immediately without one; `store` of many may overlap. Throws Problem `intakeFull` before
   * anything was done when the limits are reached, or the organization has most of what they
   * allow.
   */
  async run<D, S>(
    organizationId: string,
    deviceId: string,
    bytes: number,
    decode: () => D | Promise<D>,
    store: (decoded: D) => Promise<S>,
  ): Promise<S> {
    const share = this.#enter(organizationId, bytes);
    try {
      return await this.#work(deviceId, decode, store);
    } finally {
      this.#leave(organizationId, share, bytes);
    }
  }

  /** Uplinks under way. */
  get size(): number {
    return this.#uplinks;
  }

  #enter(organizationId: string, bytes: number): Share {
    const share = this.#shares.get(organizationId) ?? { uplinks: 0, bytes: 0 };
    if (
      this.#bytesHeld + bytes > this.#limits.bytesMax ||
      !leavesRoom(share.uplinks, this.#uplinks, this.#limits.uplinksMax) ||
      !leavesRoom(share.bytes, this.#bytesHeld, this.#limits.bytesMax)
    )
      throw problem('intakeFull');
    if (share.uplinks === 0) this.#shares.set(organizationId, share);
    this.#uplinks++;
    this.#bytesHeld += bytes;
    share.uplinks++;
    share.bytes += bytes;
    return share;
  }

  #leave(organizationId: string, share: Share, bytes: number): void {
    this.#uplinks--;
    this.#bytesHeld -= bytes;
    share.uplinks--;
    share.bytes -= bytes;
    if (share.uplinks === 0) this.#shares.delete(organizationId);
    if (this.#uplinks === 0) for (const done of this.#drainWaiters.splice(0)) done();
  }

  #storeInOrder<D, S>(
    deviceId: string,
    decoding: Promise<D>,
    store: (decoded: D) => Promise<S>,
  ): Promise<S> {
    return new Promise((resolve, reject) => {
      const over = () => {
        if (this.#tails.get(deviceId) === turn) this.#tails.delete(deviceId);
      };
      // Storing begins in the same turn as decoding ends, so entries keep their order, and its fsync
      // holds up nobody.
      const turn = decoding.then(
        (decoded) => {
          over();
          store(decoded).then(resolve, reject);
        },
        () => {
          over();
          decoding.catch(reject);
        },
      );
      this.#tails.set(deviceId, turn);
    });
  }

  #work<D, S>(
    deviceId: string,
    decode: () => D | Promise<D>,
    store: (decoded: D) => Promise<S>,
  ): Promise<S> {
    const before = this.#tails.get(deviceId);
    const decoded = before === undefined ? decode() : before.then(decode);
    // Without a script there is nothing to wait for, and nothing that a later uplink can pass.
    if (!(decoded instanceof Promise)) return store(decoded);
    return this.#storeInOrder(deviceId, decoded, store);
  }
}
