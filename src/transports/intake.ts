// Bounded intake: limits the uplinks in progress, with a share for each organization, and keeps the order of each device.
import { problem } from '../model/problem.ts';
import { leavesRoom } from '../structures/shared-pool.ts';

export interface IntakeLimits {
  readonly uplinksMax: number;
  readonly bytesMax: number;
}

export const intakeLimits: IntakeLimits = { uplinksMax: 4_096, bytesMax: 128 * 1024 * 1024 };

export interface Intake {
  /**
   * Runs the work of one uplink. `decode` of one device runs after the one before it ended, and
   * immediately without one; `store` of many may overlap. Throws Problem `intakeFull` before
   * anything was done when the limits are reached, or the organization has most of what they allow.
   */
  run<D, S>(
    organizationId: string,
    deviceId: string,
    bytes: number,
    decode: () => D | Promise<D>,
    store: (decoded: D) => Promise<S>,
  ): Promise<S>;
  /** Uplinks under way. */
  readonly size: number;
  /** Resolves when nothing is under way. */
  drained(): Promise<void>;
}

interface Share {
  uplinks: number;
  bytes: number;
}

export function createIntake(limits: IntakeLimits): Intake {
  const tails = new Map<string, Promise<unknown>>();
  const drainWaiters: (() => void)[] = [];
  /** What each organization has in progress. */
  const shares = new Map<string, Share>();
  let uplinks = 0;
  let bytesHeld = 0;

  function enter(organizationId: string, bytes: number): Share {
    const share = shares.get(organizationId) ?? { uplinks: 0, bytes: 0 };
    if (
      bytesHeld + bytes > limits.bytesMax ||
      !leavesRoom(share.uplinks, uplinks, limits.uplinksMax) ||
      !leavesRoom(share.bytes, bytesHeld, limits.bytesMax)
    )
      throw problem('intakeFull');
    if (share.uplinks === 0) shares.set(organizationId, share);
    uplinks++;
    bytesHeld += bytes;
    share.uplinks++;
    share.bytes += bytes;
    return share;
  }

  function leave(organizationId: string, share: Share, bytes: number): void {
    uplinks--;
    bytesHeld -= bytes;
    share.uplinks--;
    share.bytes -= bytes;
    if (share.uplinks === 0) shares.delete(organizationId);
    if (uplinks === 0) for (const done of drainWaiters.splice(0)) done();
  }

  async function storeInOrder<D, S>(
    deviceId: string,
    decoding: Promise<D>,
    store: (decoded: D) => Promise<S>,
  ): Promise<S> {
    // Storing begins in the same turn as decoding ends, so entries keep their order, and its fsync
    // holds up nobody.
    const turn = decoding.then((decoded) => {
      const stored = store(decoded);
      stored.catch(() => undefined);
      return { stored };
    });
    tails.set(deviceId, turn);
    const forget = () => {
      if (tails.get(deviceId) === turn) tails.delete(deviceId);
    };
    turn.then(forget, forget);
    return (await turn).stored;
  }

  function work<D, S>(
    deviceId: string,
    decode: () => D | Promise<D>,
    store: (decoded: D) => Promise<S>,
  ): Promise<S> {
    const before = tails.get(deviceId);
    const decoded = before === undefined ? decode() : before.then(decode, decode);
    // Without a script there is nothing to wait for, and nothing that a later uplink can pass.
    if (!(decoded instanceof Promise)) return store(decoded);
    return storeInOrder(deviceId, decoded, store);
  }

  return {
    async run(organizationId, deviceId, bytes, decode, store) {
      const share = enter(organizationId, bytes);
      try {
        return await work(deviceId, decode, store);
      } finally {
        leave(organizationId, share, bytes);
      }
    },
    get size() {
      return uplinks;
    },
    drained() {
      if (uplinks === 0) return Promise.resolve();
      return new Promise((done) => drainWaiters.push(done));
    },
  };
}
