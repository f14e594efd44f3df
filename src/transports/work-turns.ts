// Work turns: organizations take turns on the main thread by measured time, so that one with much work does not delay the others.
import { problem } from '../model/problem.ts';
import { RunQueue, type Waiting } from '../structures/run-queue.ts';
import { LargeWork, largeWorkLimits } from './large-work.ts';

export const workTurnLimits = {
  /** Work that is done without waiting in one window, and from the queue in one turn of the event loop. */
  busyMs: 4,
  windowMs: 8,
  /** An organization whose pieces of work take longer on average comes behind the others. */
  quickMsMax: 2,
  /** Waiting pieces of one organization, and of all; beyond, senders are asked to send again later. */
  tenantQueueMax: 4_096,
  queueMax: 20_000,
  trialsRunningMax: 1,
  trialsWaitingMax: 1,
  trialBytesMax: 1,
} as const;

interface Piece extends Waiting {
  readonly start: () => void;
  /** What follows is not within `start`, but in the same turn of the event loop. */
  readonly isFollowed: boolean;
}

/**
 * While the thread has time, work is done at once. When it has none, pieces of work wait in the line
 * of their organization, and those that used less time come first.
 */
export class WorkTurns {
  /** Requests with large bodies, which take many turns each. */
  readonly large = new LargeWork(largeWorkLimits.runningMax);
  readonly assistants = new LargeWork(largeWorkLimits.assistantsMax);
  readonly #now: () => number;
  readonly #queue: RunQueue<Piece>;
  #windowAt = Number.NEGATIVE_INFINITY;
  #busyMs = 0;
  #isScheduled = false;
  #followed: { readonly piece: Piece; readonly startedAt: number } | undefined;

  /** The clock is that of the process, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
    this.#queue = new RunQueue<Piece>(workTurnLimits, now);
  }

  /** Waiting pieces. */
  get size(): number {
    return this.#queue.size;
  }

  /**
   * Does work of the organization at its turn; what it does behind an `await` is not measured. Work
   * of one organization begins in the order of the calls. Rejects with Problem
   * `intakeFull` when too much waits.
   */
  run<T>(organizationId: string, work: () => T): T | Promise<Awaited<T>> {
    if (!this.#mustWait()) return this.#measured(organizationId, work);
    return this.#inLine(organizationId, work, false);
  }

  #inLine<T>(organizationId: string, work: () => T, isFollowed: boolean): Promise<Awaited<T>> {
    return new Promise<Awaited<T>>((resolve, reject) => {
      const start = () => {
        try {
          resolve(work() as Awaited<T>);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const piece: Piece = { tenant: organizationId, kind: 'live', bytes: 0, start, isFollowed };
      if (this.#queue.push(piece) !== 'taken') throw problem('intakeFull');
      this.#schedule();
    });
  }

  /**
   * Undefined when the organization need not wait; else resolves at its turn, and what the caller
   * then does until it waits for something else is measured.
   */
  wait(organizationId: string): Promise<void> | undefined {
    return this.#mustWait() ? this.#inLine(organizationId, nothing, true) : undefined;
  }

  /** Charges time that the organization used without a turn. */
  charge(organizationId: string, ms: number): void {
    this.#beginWindow();
    this.#busyMs += ms;
    this.#queue.charge({ ...noPiece, tenant: organizationId }, ms);
  }

  #mustWait(): boolean {
    if (this.#queue.size > 0) return true;
    this.#beginWindow();
    return this.#busyMs >= workTurnLimits.busyMs;
  }

  /** When the last one is over. */
  #beginWindow(): void {
    const now = this.#now();
    if (now - this.#windowAt <= workTurnLimits.windowMs) return;
    this.#windowAt = now;
    this.#busyMs = 0;
  }

  #measured<T>(organizationId: string, work: () => T): T {
    const startedAt = this.#now();
    try {
      return work();
    } finally {
      this.charge(organizationId, this.#now() - startedAt);
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    // What came in the same turn of the event loop is in its line before.
    setImmediate(() => this.#work());
    // Comes when all that the first one began has been done as far as it can be at once.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#settleFollowed();
      if (this.#queue.size > 0) this.#schedule();
    });
  }

  #settleFollowed(): void {
    if (this.#followed === undefined) return;
    const { piece, startedAt } = this.#followed;
    this.#followed = undefined;
    this.#windowAt = this.#now();
    this.#busyMs = this.#windowAt - startedAt;
    this.#queue.settle(piece, this.#busyMs);
  }

  #work(): void {
    const startedAt = this.#now();
    let now = startedAt;
    while (now - startedAt < workTurnLimits.busyMs) {
      const [piece] = this.#queue.take(1, true).runs;
      if (piece === undefined) break;
      piece.start();
      if (piece.isFollowed) {
        this.#followed = { piece, startedAt: now };
        break;
      }
      const before = now;
      now = this.#now();
      this.#queue.settle(piece, now - before);
    }
    // What follows the pieces waits for the next turn of the event loop when this one was full.
    this.#windowAt = now;
    this.#busyMs = now - startedAt;
  }
}

function nothing(): void {}

const noPiece = { kind: 'live', bytes: 0, start: nothing, isFollowed: false } as const;
