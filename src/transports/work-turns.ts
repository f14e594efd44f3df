// Work turns: organizations take turns on the main thread by measured time, so that one with much work does not delay the others.
import process from 'node:process';
import { problem } from '../model/problem.ts';
import { type BoundedMap, createBoundedMap } from '../structures/caches.ts';
import { RunQueue, type Waiting } from '../structures/run-queue.ts';
import { armTurnEnd } from '../structures/turns.ts';
import { ByteBudget } from './byte-budget.ts';
import { LargeWork, largeWorkLimits } from './large-work.ts';

export const workTurnLimits = {
  /** Work that is done without waiting in one window. */
  busyMs: 3,
  /**
   * Work from the queue in one turn of the event loop: a capture that waits for a script and the disk
   * takes several.
   */
  turnMs: 0.5,
  /** The same while one organization is alone: its bulk requests take a tenth less of the thread. */
  aloneTurnMs: 3,
  /** An organization is alone when no other one used the thread for so long. */
  aloneAfterMs: 1_000,
  windowMs: 6,
  /** What light organizations do without waiting in one window of a busy thread. */
  lightMs: 3,
  /** An organization is light while it used at most this, which falls by the share of the time that passes. */
  lightUsedMs: 2,
  lightShare: 0.1,
  /** Organizations whose use is known; those that used the thread last. */
  knownMax: 10_000,
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
}

/** What an organization used of the thread lately. */
interface Used {
  ms: number;
  at: number;
}

/**
 * While the thread has time, work is done at once. When it has none, pieces of work wait in the line
 * of their organization, and those that used less time come first. Organizations that hardly used
 * any do not wait, so that a request that needs little passes a loaded thread as quickly as its
 * turns of the event loop allow.
 */
export class WorkTurns {
  /** Requests with large bodies, which take many turns each. */
  readonly large = new LargeWork(largeWorkLimits.runningMax);
  /** Groups of samples of large bulk requests, from their reading until they are durable. */
  readonly groups = new LargeWork(largeWorkLimits.groupsMax);
  readonly assistants = new LargeWork(largeWorkLimits.assistantsMax);
  /** Bodies that were received compressed, until they are inflated. */
  readonly compressed = new ByteBudget(largeWorkLimits.compressedBytesMax);
  readonly #now: () => number;
  readonly #queue: RunQueue<Piece>;
  readonly #used: BoundedMap<string, Used> = createBoundedMap(workTurnLimits.knownMax);
  /** Who used the thread last, and when another one did. */
  #lastUser: string | undefined;
  #sharedAt = Number.NEGATIVE_INFINITY;
  #windowAt = Number.NEGATIVE_INFINITY;
  #busyMs = 0;
  #lightMs = 0;
  #isScheduled = false;
  /** The piece that is done now, with all that follows it until it waits for something else. */
  #current: { readonly piece: Piece; readonly startedAt: number } | undefined;

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
   * Does work of the organization at its turn, in which that work should be done within a
   * millisecond or two. What it does behind an `await` is measured only if it waited. Work of one
   * organization begins in the order of the calls. Rejects with Problem `intakeFull` when too much
   * waits.
   */
  run<T>(organizationId: string, work: () => T): T | Promise<Awaited<T>> {
    if (!this.#mustWait(organizationId)) return this.#measured(organizationId, work);
    return this.#inLine(organizationId, work);
  }

  /**
   * Undefined when the organization need not wait; else resolves at its turn, and what the caller
   * then does until it waits for something else is measured.
   */
  wait(organizationId: string): Promise<void> | undefined {
    return this.#mustWait(organizationId) ? this.#inLine(organizationId, nothing) : undefined;
  }

  /**
   * As `run`, always at a turn: for a part of a large request, which takes a millisecond or two. What
   * follows it until the request waits for something else is measured with it.
   */
  slice<T>(organizationId: string, work: () => T): Promise<Awaited<T>> {
    return this.#inLine(organizationId, work);
  }

  /** As `wait`, always at a turn: before work that is done behind an `await`. */
  nextTurn(organizationId: string): Promise<void> {
    return this.#inLine(organizationId, nothing);
  }

  /** Charges time that the organization used without a turn. */
  charge(organizationId: string, ms: number): void {
    // That of a piece is measured as a whole.
    if (this.#current !== undefined) return;
    this.#beginWindow();
    if (this.#isBusy()) this.#lightMs += ms;
    this.#busyMs += ms;
    this.#queue.charge({ ...noPiece, tenant: organizationId }, ms);
    this.#use(organizationId, ms);
  }

  #inLine<T>(organizationId: string, work: () => T): Promise<Awaited<T>> {
    return new Promise<Awaited<T>>((resolve, reject) => {
      const start = () => {
        try {
          resolve(work() as Awaited<T>);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const piece: Piece = { tenant: organizationId, kind: 'live', bytes: 0, start };
      if (this.#queue.push(piece) !== 'taken') throw problem('intakeFull');
      this.#schedule();
    });
  }

  #mustWait(organizationId: string): boolean {
    this.#beginWindow();
    if (!this.#isBusy()) return false;
    if (this.#lightMs >= workTurnLimits.lightMs || !this.#isLight(organizationId)) return true;
    // Its pieces stay in their order.
    return this.#queue.hasLive(organizationId);
  }

  #isBusy(): boolean {
    return this.#queue.size > 0 || this.#busyMs >= workTurnLimits.busyMs;
  }

  #isLight(organizationId: string): boolean {
    const used = this.#used.get(organizationId);
    return used === undefined || usedNow(used, this.#now()) <= workTurnLimits.lightUsedMs;
  }

  #use(organizationId: string, ms: number): void {
    const now = this.#now();
    if (organizationId !== this.#lastUser && this.#lastUser !== undefined) this.#sharedAt = now;
    this.#lastUser = organizationId;
    const used = this.#used.use(organizationId);
    if (used === undefined) {
      this.#used.set(organizationId, { ms, at: now });
      return;
    }
    used.ms = usedNow(used, now) + ms;
    used.at = now;
  }

  /** When the last one is over. Each turn of the queue begins one too. */
  #beginWindow(): void {
    const now = this.#now();
    if (this.#current !== undefined) this.#busyMs = now - this.#windowAt;
    else if (now - this.#windowAt > workTurnLimits.windowMs) this.#openWindow(now);
  }

  #openWindow(now: number): void {
    this.#windowAt = now;
    this.#busyMs = 0;
    this.#lightMs = 0;
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
    // What came in the same turn of the event loop is in its line before, and what requests wait for
    // at its end, such as the journal and scripts, is begun.
    armTurnEnd();
    setImmediate(() => {
      this.#openWindow(this.#now());
      this.#startNext();
    });
  }

  #startNext(): void {
    const [piece] = this.#queue.take(1, true).runs;
    if (piece === undefined) {
      this.#isScheduled = false;
      return;
    }
    this.#current = { piece, startedAt: this.#now() };
    piece.start();
    // A tick that is asked for by a microtask comes when no other microtask is left: all that the
    // piece began has been done as far as it can be in this turn.
    queueMicrotask(() => process.nextTick(() => this.#ended()));
  }

  #turnMs(now: number): number {
    const { turnMs, aloneTurnMs, aloneAfterMs } = workTurnLimits;
    return now - this.#sharedAt < aloneAfterMs ? turnMs : aloneTurnMs;
  }

  #ended(): void {
    const now = this.#now();
    if (this.#current !== undefined) {
      const { piece, startedAt } = this.#current;
      this.#current = undefined;
      this.#queue.settle(piece, now - startedAt);
      this.#use(piece.tenant, now - startedAt);
    }
    this.#busyMs = now - this.#windowAt;
    if (this.#busyMs < this.#turnMs(now)) {
      this.#startNext();
      return;
    }
    this.#isScheduled = false;
    if (this.#queue.size > 0) this.#schedule();
  }
}

function usedNow({ ms, at }: Used, now: number): number {
  return Math.max(0, ms - (now - at) * workTurnLimits.lightShare);
}

function nothing(): void {}

const noPiece = { kind: 'live', bytes: 0, start: nothing } as const;
