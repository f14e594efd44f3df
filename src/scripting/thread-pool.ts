// The threads of the machine: as many as were asked for, one in reserve once it was needed, and who gets which runs.
import { problem } from '../model/problem.ts';
import { surveyMemory } from './guest-memory.ts';
import type { ScriptLimits } from './limits.ts';
import { compileQuickJs } from './quickjs.ts';
import type { RunQueue } from './run-queue.ts';
import { type PendingRun, type ScriptThread, startScriptThread, type ThreadParts } from './script-thread.ts';

export interface ThreadPool {
  /** Gives waiting runs to threads after the current turn of the event loop, so that they share messages. */
  dispatchSoon(): void;
  /** Why no run can be taken any more. */
  error(): Error | undefined;
  close(): Promise<void>;
}

/** Starts the threads in the background. */
export function createThreadPool(size: number, limits: ScriptLimits, queue: RunQueue<PendingRun>): ThreadPool {
  const working = new Set<ScriptThread>();
  let spare: ScriptThread | undefined;
  let parts: ThreadParts | undefined;
  let failure: Error | undefined;
  // A warm reserve costs the memory of a thread, so it is kept only where a script has ever got stuck.
  let keepsSpare = false;
  let failedStarts = 0;
  let isScheduled = false;
  let watchTimer: NodeJS.Timeout | undefined;

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
      answered(returned) {
        queue.putBack(returned);
        dispatch();
      },
      gone(returned, wasReady) {
        working.delete(thread);
        if (spare === thread) spare = undefined;
        queue.putBack(returned);
        keepsSpare ||= wasReady;
        failedStarts = wasReady ? 0 : failedStarts + 1;
        if (failedStarts >= limits.failedStartsMax) failAll(new Error('The script workers do not start'));
        if (failure === undefined) fill();
      },
    });
    return thread;
  };

  const fill = (): void => {
    while (working.size < size) {
      working.add(spare ?? start());
      spare = undefined;
    }
    // It is made when there is time for it: a thread that is to work comes first.
    if (keepsSpare && spare === undefined && [...working].every((thread) => thread.isReady)) spare = start();
    dispatch();
  };

  const watch = (): void => {
    const now = performance.now();
    for (const thread of working) thread.watch(now);
    if (failure !== undefined || [...working].every((thread) => thread.batches === 0)) {
      clearInterval(watchTimer);
      watchTimer = undefined;
    }
  };

  const dispatch = (): void => {
    for (;;) {
      const free = [...working].filter((thread) => canTake(thread, queue.size, limits));
      if (free.length === 0 || queue.size === 0 || failure !== undefined) return;
      const thread = free.reduce((least, other) => (other.batches < least.batches ? other : least));
      const share = Math.min(limits.batchRunsMax, Math.ceil(queue.size / free.length));
      const isBusy = (tenant: string): boolean =>
        [...working].some((other) => other !== thread && other.hasTenant(tenant));
      thread.send(queue.take(share, isBusy));
      watchTimer ??= setInterval(watch, limits.watchIntervalMs);
    }
  };

  const begin = async (): Promise<void> => {
    const module = await compileQuickJs();
    parts = { module, layout: await surveyMemory(module), limits };
    if (failure === undefined) fill();
  };
  begin().catch((error: unknown) => failAll(error as Error));

  return {
    dispatchSoon() {
      if (isScheduled) return;
      isScheduled = true;
      queueMicrotask(() => {
        isScheduled = false;
        dispatch();
      });
    },
    error: () => failure,
    async close() {
      failAll(problem('stopping'));
      await Promise.all([...working, ...(spare === undefined ? [] : [spare])].map((thread) => thread.end()));
    },
  };
}

// A second batch keeps a thread busy while the answer to the first travels; with few waiting runs it would only delay them.
function canTake(thread: ScriptThread, waiting: number, limits: ScriptLimits): boolean {
  if (!thread.isReady) return false;
  return thread.batches === 0 || (thread.batches < limits.batchesInFlightMax && waiting >= limits.batchRunsMax);
}
