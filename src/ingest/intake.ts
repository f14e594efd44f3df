// Bounded intake: limits the uplinks in progress, and keeps the order of each device.
import { problem } from '../model/problem.ts';

export interface IntakeLimits {
  readonly uplinksMax: number;
  readonly bytesMax: number;
}

export const intakeLimits: IntakeLimits = { uplinksMax: 4_096, bytesMax: 128 * 1024 * 1024 };

export interface Intake {
  /**
   * Runs the work of one uplink. `decode` of one device runs after the one before it ended, and
   * immediately without one; `store` of many may overlap. Throws Problem `intakeFull` before
   * anything was done when the limits are reached.
   */
  run<D, S>(
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

export function createIntake(limits: IntakeLimits): Intake {
  const tails = new Map<string, Promise<unknown>>();
  const drainWaiters: (() => void)[] = [];
  let uplinks = 0;
  let bytesHeld = 0;

  function leave(bytes: number): void {
    uplinks--;
    bytesHeld -= bytes;
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
    async run(deviceId, bytes, decode, store) {
      if (uplinks >= limits.uplinksMax || bytesHeld + bytes > limits.bytesMax)
        throw problem('intakeFull');
      uplinks++;
      bytesHeld += bytes;
      try {
        return await work(deviceId, decode, store);
      } finally {
        leave(bytes);
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
