// What is usual, for rules: learned once for each local day of a device's key, never for each sample (contract 38).
import type { Sensitivity } from '../../query/expressions/parse.ts';
import type { EpochMs } from '../../model/instant.ts';
import { WorkingSet } from '../../structures/caches.ts';

const usualLimits = {
  /** Days in memory, 4 kB each; workspaces with more than an equal share make room first. */
  daysMax: 5_000,
  /** Asked for at once; what does not fit is asked for again with the next sample. */
  waitingMax: 5_000,
  /** Days that samples of a workspace wait for at once, and how many more each second. */
  awaitedMax: 100,
  awaitedPerSecond: 2,
  /** An older day says nothing of today. */
  staleDaysMax: 7,
  workspacesMax: 10_000,
} as const;

/** Between two days that are learned while no sample waits. */
const restMs = 50;

/** What was learned of a key for one local day. */
export interface UsualDay {
  /** Counted from the epoch, as `dayOf` does. */
  readonly day: number;
  readonly dayOf: (at: EpochMs) => number;
  /** Undefined where too little is known. */
  readonly isOutside: (value: number, at: EpochMs, sensitivity: Sensitivity) => boolean | undefined;
}

export interface UsualKey {
  readonly deviceId: string;
  readonly workspaceId: string;
  readonly topic: string;
  readonly key: string;
}

/**
 * A sample waits for its day as long as its workspace has not made many wait; others are judged by
 * an earlier day, or not at all, and the day is learned behind them. So a fleet that sends at
 * midnight delays no rule of others.
 */
export class UsualDays {
  readonly #learn: (of: UsualKey, at: EpochMs) => Promise<UsualDay>;
  readonly #clock: () => number;
  readonly #pause: (ms: number) => Promise<unknown>;
  readonly #failed: (error: unknown) => void;
  readonly #isPatient: boolean;
  readonly #kept = new WorkingSet<string, { readonly workspaceId: string; readonly day: UsualDay }>(
    usualLimits.daysMax,
    undefined,
    ({ workspaceId }) => workspaceId,
  );
  readonly #waiting = new Map<string, { readonly of: UsualKey; readonly at: EpochMs }>();
  readonly #awaited = new Map<string, { tokens: number; at: number }>();
  #isLearning = false;
  #isClosed = false;

  /**
   * `learn` reads the hours of eight weeks, and takes some milliseconds. `clock` is in milliseconds
   * since any fixed moment. `failed` is called when a day cannot be learned while no sample waits
   * for it. With `isPatient`, samples wait for every day, as those of a simulation do.
   */
  constructor(
    learn: (of: UsualKey, at: EpochMs) => Promise<UsualDay>,
    clock: () => number,
    pause: (ms: number) => Promise<unknown>,
    failed: (error: unknown) => void,
    isPatient = false,
  ) {
    this.#learn = learn;
    this.#clock = clock;
    this.#pause = pause;
    this.#failed = failed;
    this.#isPatient = isPatient;
  }

  /** Undefined while it is being learned. */
  async dayFor(of: UsualKey, at: EpochMs): Promise<UsualDay | undefined> {
    const name = nameOf(of);
    this.#kept.claim([name]);
    const known = this.#kept.get(name)?.day;
    const days = known === undefined ? Number.NaN : known.dayOf(at) - known.day;
    if (days === 0) return known;
    if (this.#isPatient || this.#mayWait(of.workspaceId)) {
      const day = await this.#learn(of, at);
      // A late sample does not take the place of today.
      if (!(days < 0)) this.#keep(name, of, day);
      return day;
    }
    if (days < 0) return undefined;
    this.#learnLater(name, of, at);
    return days <= usualLimits.staleDaysMax ? known : undefined;
  }

  /** Learns nothing more. */
  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
  }

  #keep(name: string, { workspaceId }: UsualKey, day: UsualDay): void {
    this.#kept.claim([name]);
    this.#kept.set(name, { workspaceId, day });
  }

  #mayWait(workspaceId: string): boolean {
    const now = this.#clock();
    const { awaitedMax, awaitedPerSecond, workspacesMax } = usualLimits;
    const known = this.#awaited.get(workspaceId) ?? { tokens: awaitedMax, at: now };
    const more = ((now - known.at) / 1_000) * awaitedPerSecond;
    const tokens = Math.min(awaitedMax, known.tokens + more);
    const mayWait = tokens >= 1;
    if (this.#awaited.size >= workspacesMax) this.#awaited.clear();
    this.#awaited.set(workspaceId, { tokens: tokens - Number(mayWait), at: now });
    return mayWait;
  }

  #learnLater(name: string, of: UsualKey, at: EpochMs): void {
    if (this.#isClosed || this.#waiting.has(name)) return;
    if (this.#waiting.size >= usualLimits.waitingMax) return;
    this.#waiting.set(name, { of, at });
    if (this.#isLearning) return;
    this.#isLearning = true;
    void this.#learnWaiting().finally(() => (this.#isLearning = false));
  }

  async #learnWaiting(): Promise<void> {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const [name, { of, at }] = next;
      try {
        const day = await this.#learn(of, at);
        this.#keep(name, of, day);
      } catch (error) {
        if (!this.#isClosed) this.#failed(error);
      }
      this.#waiting.delete(name);
      await this.#pause(restMs);
    }
  }
}

function nameOf({ deviceId, topic, key }: UsualKey): string {
  return `${deviceId}\u0000${topic}\u0000${key}`;
}
