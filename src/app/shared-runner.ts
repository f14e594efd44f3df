// Connects a runner of operations with the other nodes: each operation runs at the holder of its lease.
import { leaseOfOperation, type SharedWork } from '../cluster/leases/lease-tasks.ts';
import type { OperationRunner } from '../operations/operation-runner.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import type { Parts } from './platform-parts.ts';

/** A holder that was not notified of an operation, or could not continue it, finds it then. */
const operationsLookEveryMs = 2_000;

interface SharedRunner {
  readonly runner: OperationRunner;
  /** Name of the call that starts an operation at its holder. */
  readonly call: string;
  /** What fails, for the log. */
  readonly what: string;
}

/** Operations are run by the holder of their lease, and continued by the next one. */
export function shareRunner(
  { telemetry }: Parts,
  work: SharedWork,
  { runner, call, what }: SharedRunner,
): OperationRunner {
  const failed = (error: unknown) => telemetry.backgroundFailed(what, error);
  const resume = () => void runner.resume().catch(failed);
  work.follow({ family: 'operations/', gained: resume, lost: runner.chunkEnded });
  work.answer(call, async (id) => {
    runner.start(String(id));
    return null;
  });
  const stopLooking = setRepeatingTimer(resume, operationsLookEveryMs);
  return {
    ...runner,
    async close() {
      stopLooking();
      await runner.close();
    },
    start(id) {
      runner.start(id);
      work.tellHolders([leaseOfOperation(id)], call, id);
    },
  };
}
