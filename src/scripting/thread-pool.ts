// Thread pool of the script machine: its threads, a reserve behind slow runs, and the dispatch.
import { problem } from '../model/problem.ts';
import { inspectMemoryLayout } from './guest-memory.ts';
import type { ScriptLimits } from './script-limits.ts';
import { compileQuickJs } from './quickjs.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import { atTurnEnd } from '../structures/turn-end.ts';
import type { RunQueue } from '../structures/run-queue.ts';
import {
  type PendingRun,
  ScriptThread,
  type ThreadEnd,
  type ThreadParts,
} from './script-thread.ts';

/** Slow runs may occupy all threads but one, so there must be two. */
const threadsWithReserve = 2;

interface PoolState {
  /** Threads that the options ask for. */
  readonly size: number;
  readonly limits: ScriptLimits;
  readonly queue: RunQueue<PendingRun>;
  readonly troubled: (why: string) => void;
  readonly working: Set<ScriptThread>;
  readonly ending: Set<Promise<void>>;
  spare: ScriptThread | undefined;
  /** Undefined until the engine is compiled. */
  parts: ThreadParts | undefined;
  failure: Error | undefined;
  /** A warm spare costs the memory of a thread, so it is kept only after a run was stuck. */
  keepsSpare: boolean;
  failedStarts: number;
  isScheduled: boolean;
  stopWatching: (() => void) | undefined;
  slowAt: number;
  ranAt: number;
  wanted: number;
}

/**
 * Starts the threads in the background. `troubled` gets the reason why a thread died, was ended,
 * or cannot be started.
 */
export class ThreadPool {
  readonly #pool: PoolState;

  constructor(
    size: number,
    limits: ScriptLimits,
    queue: RunQueue<PendingRun>,
    troubled: (why: string) => void,
  ) {
    this.#pool = {
      size,
      limits,
      queue,
      troubled,
      working: new Set(),
      ending: new Set(),
      spare: undefined,
      parts: undefined,
      failure: undefined,
      keepsSpare: false,
      failedStarts: 0,
      isScheduled: false,
      stopWatching: undefined,
      slowAt: Number.NEGATIVE_INFINITY,
      ranAt: 0,
      wanted: size,
    };
    begin(this.#pool).catch((error: unknown) => {
      troubled(`No script worker can be started: ${(error as Error).message}`);
      failAll(this.#pool, error as Error);
    });
  }

  /** Why runs can no longer be taken. */
  readonly error = (): Error | undefined => this.#pool.failure;

  readonly close = async (): Promise<void> => {
    failAll(this.#pool, problem('stopping'));
    const ends = allThreads(this.#pool).map((thread) => thread.end());
    await Promise.all([...ends, ...this.#pool.ending]);
  };

  /**
   * Gives waiting runs to threads after the current turn of the event loop, so that they share
   * messages.
   */
  dispatchSoon(): void {
    dispatchSoon(this.#pool);
  }

  get threads(): number {
    return allThreads(this.#pool).length;
  }

  /**
   * Call periodically: ends and replaces threads that were idle for a long time. True if no
   * remaining thread was ever given a script.
   */
  rest(now: number): boolean {
    return rest(this.#pool, now);
  }
}

async function begin(pool: PoolState): Promise<void> {
  const module = await compileQuickJs();
  pool.parts = { module, layout: await inspectMemoryLayout(module), limits: pool.limits };
  if (pool.failure === undefined) fill(pool);
}

function allThreads({ working, spare }: PoolState): readonly ScriptThread[] {
  return [...working, spare].filter((thread) => thread !== undefined);
}

function failAll(pool: PoolState, error: Error): void {
  pool.failure = error;
  stopWatching(pool);
  for (const run of pool.queue.drain()) run.fail(error);
  for (const thread of pool.working) for (const run of thread.runs.values()) run.fail(error);
}

function start(pool: PoolState, parts: ThreadParts): ScriptThread {
  const { queue } = pool;
  const thread = new ScriptThread(parts, {
    ready() {
      pool.failedStarts = 0;
      fill(pool);
    },
    ran: (run, ms) => queue.settle(run, ms),
    answered(returned) {
      queue.putBack(returned);
      dispatch(pool);
    },
    gone: (end) => replace(pool, thread, end),
  });
  return thread;
}

function replace(
  pool: PoolState,
  thread: ScriptThread,
  { returned, wasReady, again, why }: ThreadEnd,
): void {
  const { queue, limits } = pool;
  pool.troubled(wasReady ? why : `A script worker did not start: ${why}`);
  pool.working.delete(thread);
  if (pool.spare === thread) pool.spare = undefined;
  queue.putBack(returned);
  if (again !== undefined && queue.push(again) !== 'taken') again.fail(problem('intakeFull'));
  pool.keepsSpare ||= wasReady;
  pool.failedStarts = wasReady ? 0 : pool.failedStarts + 1;
  if (pool.failedStarts >= limits.failedStartsMax)
    failAll(pool, new Error('The script workers do not start'));
  if (pool.failure === undefined) fill(pool);
}

function fill(pool: PoolState): void {
  const { working, parts } = pool;
  if (parts === undefined) return;
  while (working.size < pool.wanted) {
    working.add(pool.spare ?? start(pool, parts));
    pool.spare = undefined;
  }
  // The spare is started last, because working threads are needed first.
  const isWarm = [...working].every((thread) => thread.isReady);
  if (pool.keepsSpare && isWarm) pool.spare ??= start(pool, parts);
  dispatch(pool);
}

/** Keeps a thread for quick runs from now on, because a run is slow. */
function reserve(pool: PoolState): void {
  pool.slowAt = performance.now();
  if (pool.wanted >= threadsWithReserve) return;
  pool.wanted = threadsWithReserve;
  fill(pool);
}

function watch(pool: PoolState): void {
  const now = performance.now();
  for (const thread of pool.working) thread.watch(now);
  const threads = [...pool.working];
  const delayMsMax = 2 * pool.limits.watchIntervalMs;
  const isDelayed = pool.queue.size > 0 && threads.some((thread) => thread.runMs(now) > delayMsMax);
  if (isDelayed && pool.failure === undefined) reserve(pool);
  if (pool.failure !== undefined || [...pool.working].every((thread) => thread.batches === 0))
    stopWatching(pool);
}

function stopWatching(pool: PoolState): void {
  pool.stopWatching?.();
  pool.stopWatching = undefined;
}

function dispatchSoon(pool: PoolState): void {
  if (pool.queue.hasSlow) reserve(pool);
  if (pool.isScheduled) return;
  pool.isScheduled = true;
  // Requests of other connections that arrived in the same turn are read before it.
  atTurnEnd(() => {
    pool.isScheduled = false;
    dispatch(pool);
  });
}

function dispatch(pool: PoolState): void {
  const { queue, limits } = pool;
  const ready = [...pool.working].filter((thread) => thread.isReady);
  while (queue.size > 0 && pool.failure === undefined) {
    const thread = leastBusy(ready, queue.size, limits);
    if (thread === undefined) return;
    const { lane, runs } = takeFor(thread, ready, pool);
    if (runs.length === 0) return;
    const isSlow = lane !== 'quick';
    pool.ranAt = performance.now();
    if (isSlow) pool.slowAt = pool.ranAt;
    thread.send(runs, isSlow);
    pool.stopWatching ??= setRepeatingTimer(() => watch(pool), limits.watchIntervalMs);
  }
}

function takeFor(
  thread: ScriptThread,
  ready: readonly ScriptThread[],
  { queue, limits }: PoolState,
) {
  const free = ready.filter((other) => canTake(other, queue.size, limits)).length;
  const slow = ready.filter((other) => other.isSlow).length;
  const alsoSlow = thread.batches === 0 && slow < Math.max(1, ready.length - 1);
  return queue.take(Math.min(limits.batchRunsMax, Math.ceil(queue.size / free)), alsoSlow);
}

/** The thread with the fewest batches of those that can take one more. */
function leastBusy(
  ready: readonly ScriptThread[],
  waiting: number,
  limits: ScriptLimits,
): ScriptThread | undefined {
  let found: ScriptThread | undefined;
  for (const thread of ready) {
    if (canTake(thread, waiting, limits) && thread.batches < (found?.batches ?? Infinity))
      found = thread;
  }
  return found;
}

function rest(pool: PoolState, now: number): boolean {
  const { working, limits } = pool;
  if (pool.failure !== undefined || pool.parts === undefined || pool.queue.size > 0) return false;
  if (now - pool.slowAt > limits.reserveIdleMs) pool.wanted = pool.size;
  const isIdle = now - pool.ranAt > limits.idleMs;
  if (isIdle) endSpare(pool);
  for (const thread of working) {
    const isExcess = working.size > pool.wanted || (isIdle && thread.isUsed);
    if (isExcess && thread.batches === 0 && thread.isReady) end(pool, thread);
  }
  fill(pool);
  return [...working].every((thread) => !thread.isUsed);
}

function endSpare(pool: PoolState): void {
  pool.keepsSpare = false;
  if (pool.spare !== undefined) end(pool, pool.spare);
  pool.spare = undefined;
}

function end({ working, ending }: PoolState, thread: ScriptThread): void {
  working.delete(thread);
  const ended = thread.end().finally(() => ending.delete(ended));
  ending.add(ended);
}

// A second batch keeps a thread busy while the first answer is on its way. With few waiting runs it
// would only delay them.
function canTake(thread: ScriptThread, waiting: number, limits: ScriptLimits): boolean {
  if (!thread.isReady || thread.isSlow) return false;
  return (
    thread.batches === 0 ||
    (thread.batches < limits.batchesInFlightMax && waiting >= limits.batchRunsMax)
  );
}
