// Clock watch: compares the clock of a node with that of the database that all nodes share.
import type { EpochMs } from '../model/instant.ts';

export const clockWatch = {
  everyMs: 60_000,
  /** Beyond, samples of a device that moves can get times of storing in another order. */
  differenceMsMax: 2_000,
} as const;

export class ClockWatch {
  readonly #serverTime: () => Promise<EpochMs>;
  readonly #now: () => EpochMs;
  readonly #differs: (error: Error) => void;
  #aheadMs = 0;
  #isReported = false;

  constructor({
    serverTime,
    now,
    differs,
  }: {
    /** The time of the server, when it answers. */
    readonly serverTime: () => Promise<EpochMs>;
    readonly now: () => EpochMs;
    /** Called with a sentence for the operator, once while the difference exceeds the limit. */
    readonly differs: (error: Error) => void;
  }) {
    this.#serverTime = serverTime;
    this.#now = now;
    this.#differs = differs;
  }

  /** How far this clock is ahead; negative when it is behind, 0 before the first comparison. */
  aheadMs(): number {
    return this.#aheadMs;
  }

  /** Rejects when the server does not answer. */
  async compare(): Promise<void> {
    const before = this.#now();
    const there = await this.#serverTime();
    const after = this.#now();
    this.#aheadMs = differenceOf(before, there, after);
    const isTooLarge = Math.abs(this.#aheadMs) > clockWatch.differenceMsMax;
    if (isTooLarge && !this.#isReported) this.#differs(new Error(sentenceOf(this.#aheadMs)));
    this.#isReported = isTooLarge;
  }
}

/** The server answered at some time in between: only what this does not explain is a difference. */
function differenceOf(before: EpochMs, there: EpochMs, after: EpochMs): number {
  if (there < before) return before - there;
  return there > after ? after - there : 0;
}

function sentenceOf(aheadMs: number): string {
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  return `This node's clock is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} PostgreSQL. Synchronize all machines with NTP: receive timestamps depend on it (leases do not).`;
}
