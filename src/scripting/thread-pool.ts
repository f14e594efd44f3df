// The threads of the machine: as many as were asked for, one more for whoever would have to wait behind slow runs, and who gets which runs.
import { problem } from '../model/problem.ts';
import { surveyMemory } from './guest-memory.ts';
import type { ScriptLimits } from './script-limits.ts';
import { compileQuickJs } from './quickjs.ts';
import type { RunQueue } from './run-queue.ts';
import {
  type PendingRun,
  type ScriptThread,
  startScriptThread,
  type ThreadParts,
} from './script-thread.ts';

export interface ThreadPool {
  /** Gives waiting runs to threads after the current turn of the event loop, so that they share messages. */
  dispatchSoon(): void;
  /** Why no run can be taken any more. */
  error(): Error | undefined;
  readonly threads: number;
  /**
   * To be called now and then: ends and replaces threads that were idle for long. True when none of those that are left was
   * ever given a script.
   */
  rest(now: number): boolean;
  close(): Promise<void>;
}

/** Slow runs may occupy all threads but one, so there must be two. */
const threadsWithReserve = 2;

/** Starts the threads in the background; `troubled` is told why a thread died or was ended, and why none can be had any more. */
export function createThreadPool(
  size: number,
  limits: ScriptLimits,
  queue: RunQueue<PendingRun>,
  troubled: (why: string) => void,
): ThreadPool {
  const working = new Set<ScriptThread>();
  const ending = new Set<Promise<void>>();
  let spare: ScriptThread | undefined;
  let parts: ThreadParts | undefined;
  let failure: Error | undefined;
  // A warm reserve costs the memory of a thread, so it is kept only where a script has ever got stuck.
  let keepsSpare = false;
  let failedStarts = 0;
  let isScheduled = false;
  let watchTimer: NodeJS.Timeout | undefined;
  let slowAt = Number.NEGATIVE_INFINITY;
  let ranAt = 0;
  let wanted = size;

  const failAll = (error: Error): void => {
    failure = error;
    clearInterval(watchTimer);
    for (const run of queue.drain()) run.fail(error);
    for (const thread of working) for (const run of thread.runs.values()) run.fail(error);
  };

  const start = (): ScriptThread => {
    const thread = startScriptThread(parts!, {
      ready() {
        failedStarts = 0;
        fill();
      },
      ran: (run, ms) => queue.settle(run, ms),
      answered(returned) {
        queue.putBack(returned);
        dispatch();
      },
      gone(returned, wasReady, again, why) {
        troubled(wasReady ? why : `A script worker did not start: ${why}`);
        working.delete(thread);
        if (spare === thread) spare = undefined;
        queue.putBack(returned);
        if (again !== undefined && queue.push(again) !== 'taken') again.fail(problem('intakeFull'));
        keepsSpare ||= wasReady;
        failedStarts = wasReady ? 0 : failedStarts + 1;
        if (failedStarts >= limits.failedStartsMax)
          failAll(new Error('The script workers do not start'));
        if (failure === undefined) fill();
      },
    });
    return thread;
  };

  const fill = (): void => {
    while (working.size < wanted) {
      working.add(spare ?? start());
      spare = undefined;
    }
    // It is made when there is time for it: a thread that is to work comes first.
    if (keepsSpare && spare === undefined && [...working].every((thread) => thread.isReady))
      spare = start();
    dispatch();
  };

  /** Somebody is slow: from now on a thread is kept for the others. */
  const reserve = (): void => {
    slowAt = performance.now();
    if (wanted >= threadsWithReserve) return;
    wanted = threadsWithReserve;
    if (parts !== undefined) fill();
  };

  const watch = (): void => {
    const now = performance.now();
    for (const thread of working) thread.watch(now);
    const isHeldUp =
      queue.size > 0 &&
      [...working].some((thread) => thread.runMs(now) > 2 * limits.watchIntervalMs);
    if (isHeldUp && failure === undefined) reserve();
    if (failure !== undefined || [...working].every((thread) => thread.batches === 0)) {
      clearInterval(watchTimer);
      watchTimer = undefined;
    }
  };

  /** The free thread with the least to do. */
  const nextThread = (ready: readonly ScriptThread[]): ScriptThread | undefined => {
    let next: ScriptThread | undefined;
    for (const thread of ready) {
      if (canTake(thread, queue.size, limits) && thread.batches < (next?.batches ?? Infinity))
        next = thread;
    }
    return next;
  };

  const dispatch = (): void => {
    const ready = [...working].filter((thread) => thread.isReady);
    while (queue.size > 0 && failure === undefined) {
      const thread = nextThread(ready);
      if (thread === undefined) return;
      const free = ready.filter((other) => canTake(other, queue.size, limits)).length;
      const slow = ready.filter((other) => other.isSlow).length;
      const alsoSlow = thread.batches === 0 && slow < Math.max(1, ready.length - 1);
      const { lane, runs } = queue.take(
        Math.min(limits.batchRunsMax, Math.ceil(queue.size / free)),
        alsoSlow,
      );
      if (runs.length === 0) return;
      ranAt = performance.now();
      if (lane !== 'quick') slowAt = ranAt;
      thread.send(runs, lane !== 'quick');
      watchTimer ??= setInterval(watch, limits.watchIntervalMs);
    }
  };

  const begin = async (): Promise<void> => {
    const module = await compileQuickJs();
    parts = { module, layout: await surveyMemory(module), limits };
    if (failure === undefined) fill();
  };
  begin().catch((error: unknown) => {
    troubled(`No script worker can be started: ${(error as Error).message}`);
    failAll(error as Error);
  });

  const end = (thread: ScriptThread): void => {
    working.delete(thread);
    const ended = thread.end().finally(() => ending.delete(ended));
    ending.add(ended);
  };

  return {
    dispatchSoon() {
      if (queue.hasSlow) reserve();
      if (isScheduled) return;
      isScheduled = true;
      queueMicrotask(() => {
        isScheduled = false;
        dispatch();
      });
    },
    error: () => failure,
    get threads() {
      return working.size + (spare === undefined ? 0 : 1);
    },
    rest(now) {
      if (failure !== undefined || parts === undefined || queue.size > 0) return false;
      if (now - slowAt > limits.reserveIdleMs) wanted = size;
      const isIdle = now - ranAt > limits.idleMs;
      if (isIdle) keepsSpare = false;
      if (isIdle && spare !== undefined) {
        end(spare);
        spare = undefined;
      }
      for (const thread of working) {
        const isTooMany = working.size > wanted;
        if (thread.batches === 0 && thread.isReady && (isTooMany || (isIdle && thread.isUsed)))
          end(thread);
      }
      fill();
      return [...working].every((thread) => !thread.isUsed);
    },
    async close() {
      failAll(problem('stopping'));
      const all = [...working, ...(spare === undefined ? [] : [spare])];
      await Promise.all([...all.map((thread) => thread.end()), ...ending]);
    },
  };
}

// A second batch keeps a thread busy while the answer to the first travels; with few waiting runs it would only delay them.
function canTake(thread: ScriptThread, waiting: number, limits: ScriptLimits): boolean {
  if (!thread.isReady || thread.isSlow) return false;
  return (
    thread.batches === 0 ||
    (thread.batches < limits.batchesInFlightMax && waiting >= limits.batchRunsMax)
  );
}
