// Maintenance: runs its tasks one after the other, repeatedly. A failed task does not stop the others.
import { minuteMs } from '../model/instant.ts';
import type { SetTimer } from '../structures/timers.ts';

const roundEveryMs = minuteMs;

export interface MaintenanceParts {
  /** Tasks by the name under which a failure is reported. */
  readonly tasks: Readonly<Record<string, () => Promise<unknown>>>;
  readonly failed: (task: string, error: unknown) => void;
  /** Yields to other work between two tasks. */
  readonly pause: () => Promise<unknown>;
  readonly setRepeatingTimer: SetTimer;
}

export interface Maintenance {
  /**
   * Runs all tasks now and resolves when they have ended. A round in progress is joined instead.
   */
  readonly run: () => Promise<void>;
  /** Starts no other round. Resolves when the round in progress has ended. */
  readonly close: () => Promise<void>;
}

/** Starts a round every minute from now on. */
export function createMaintenance(parts: MaintenanceParts): Maintenance {
  let inProgress: Promise<void> | undefined;

  function run(): Promise<void> {
    inProgress ??= runTasks(parts).finally(() => {
      inProgress = undefined;
    });
    return inProgress;
  }

  const stop = parts.setRepeatingTimer(() => void run(), roundEveryMs);
  return {
    run,
    async close() {
      stop();
      await inProgress;
    },
  };
}

async function runTasks({ tasks, failed, pause }: MaintenanceParts): Promise<void> {
  for (const [name, task] of Object.entries(tasks)) {
    await Promise.try(task).catch((error: unknown) => failed(name, error));
    await pause();
  }
}
