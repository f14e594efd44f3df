// Maintenance: runs its tasks one after the other, repeatedly. A failed task does not stop the others.
import { minuteMs } from '../model/instant.ts';
import type { SetTimer } from '../structures/timers.ts';

const roundEveryMs = minuteMs;

interface MaintenanceParts {
  /** Tasks by the name under which a failure is reported. */
  readonly tasks: Readonly<Record<string, () => Promise<unknown>>>;
  readonly failed: (task: string, error: unknown) => void;
  /** Yields to other work between two tasks. */
  readonly pause: () => Promise<unknown>;
  readonly setRepeatingTimer: SetTimer;
}

/** Starts a round every minute from now on. */
export class Maintenance {
  readonly #parts: MaintenanceParts;
  #inProgress: Promise<void> | undefined;
  readonly #stop: () => void;

  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
    this.#stop = parts.setRepeatingTimer(() => void this.run(), roundEveryMs);
  }

  /** Runs all tasks now and resolves when they have ended. A round in progress is joined instead. */
  readonly run = (): Promise<void> => {
    this.#inProgress ??= runTasks(this.#parts).finally(() => {
      this.#inProgress = undefined;
    });
    return this.#inProgress;
  };

  /** Starts no other round. Resolves when the round in progress has ended. */
  readonly close = async (): Promise<void> => {
    this.#stop();
    await this.#inProgress;
  };
}

async function runTasks({ tasks, failed, pause }: MaintenanceParts): Promise<void> {
  for (const [name, task] of Object.entries(tasks)) {
    await Promise.try(task).catch((error: unknown) => failed(name, error));
    await pause();
  }
}
