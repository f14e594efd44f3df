// Rule lane worker: workspaces that are behind the others take turns, until they have caught up.
import type { EntryLog } from '../storage/log/entry-log.ts';
import type { RulePositions } from '../storage/records/rows/positions.ts';
import { RetryingWorker } from '../structures/retrying-worker.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { Lane, RuleLanes } from './rule-lanes.ts';

export interface RuleLaneParts {
  /** What was saved last; not before `position`. */
  readonly saved: RulePositions;
  readonly log: Pick<EntryLog, 'entriesFrom' | 'position'>;
  /** Called after a turn: older entries may be needed no more. */
  readonly evaluated: () => void;
  /** Called for a turn that failed and is tried again. */
  readonly failed: (error: unknown) => void;
  readonly setTimer: SetTimer;
}

export interface LaneWorker {
  /** Call when workspaces may be behind the others. */
  readonly wake: () => void;
  /**
   * Resolves when no such workspace is behind the others; rejects when an attempt to evaluate fails
   * or the worker is closed.
   */
  readonly caughtUp: (isWanted: (workspaceId: string) => boolean) => Promise<void>;
  /** Waits for the turn in progress; the next start evaluates the rest. */
  readonly close: () => Promise<void>;
}

const retryDelaysMs = [1_000, 2_000, 5_000, 10_000, 30_000] as const;

/** Workspaces that are behind take turns of one lane each. */
export function createLaneWorker(
  {
    clock,
    lanes: own,
  }: { readonly clock: () => number; readonly lanes?: RuleLaneParts | undefined },
  lanes: RuleLanes,
  run: (lane: Lane) => Promise<void>,
): LaneWorker {
  const waiters = new Set<PromiseWithResolvers<void> & { readonly isDone: () => boolean }>();
  let closed = false;

  async function takeTurns(progressed: () => void): Promise<void> {
    for (let all = lanes.all(); all.length > 0; all = lanes.all())
      for (const lane of all) {
        if (closed) return;
        await lanes.readOn(lane);
        const startedMs = clock();
        await run(lane);
        lanes.took(lane, clock() - startedMs);
        progressed();
        own?.evaluated();
        for (const waiter of waiters)
          if (waiter.isDone() && waiters.delete(waiter)) waiter.resolve();
      }
  }

  function rejectWaiters(error: unknown): void {
    for (const { reject } of waiters) reject(error);
    waiters.clear();
  }

  const worker = new RetryingWorker({
    hasWork: () => lanes.all().length > 0,
    work: takeTurns,
    failed: (error) => {
      own?.failed(error);
      rejectWaiters(error);
    },
    retryDelaysMs,
    setTimer: own?.setTimer ?? (() => () => undefined),
  });
  return {
    wake: worker.wake,
    caughtUp(isWanted) {
      const isDone = () => !lanes.all().some(({ workspaceId }) => isWanted(workspaceId));
      if (isDone()) return Promise.resolve();
      if (closed) return Promise.reject(new Error('The rule engine is shutting down'));
      const waiter = { ...Promise.withResolvers<void>(), isDone };
      waiters.add(waiter);
      worker.retryNow();
      return waiter.promise;
    },
    async close() {
      closed = true;
      await worker.close();
      rejectWaiters(new Error('The rule engine is shutting down'));
    },
  };
}
