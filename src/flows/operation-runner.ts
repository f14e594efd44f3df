// Runs operations one after the other, in short chunks between which requests have their turn, and goes on after a restart.

export interface OperationRunner {
  /** Begins the operation, or puts it behind those that run. */
  readonly start: (id: string) => void;
  /** Takes up every operation that is not completed. */
  readonly resume: () => Promise<void>;
  /** Resolves when nothing is left to run. */
  readonly idle: () => Promise<void>;
  /** Ends the chunk under way and runs no other; what is left goes on at the next start. */
  readonly close: () => Promise<void>;
}

interface RunnerParts {
  /** Works on the next items until the time is up; true when none is left. */
  readonly runChunk: (id: string, isTimeUp: () => boolean) => Promise<boolean>;
  readonly unfinished: () => Promise<readonly string[]>;
  readonly failed: (error: unknown) => void;
  /** Milliseconds, for lengths of time only. */
  readonly clock: () => number;
  /** Lets others have their turn. */
  readonly pause: () => Promise<void>;
}

/** A chunk holds the database for about this long. */
const chunkMs = 20;

export function createOperationRunner(parts: RunnerParts): OperationRunner {
  const queue: string[] = [];
  let running: Promise<void> | undefined;
  let closed = false;

  const runAll = async (): Promise<void> => {
    for (let id = queue[0]; id !== undefined && !closed; id = queue[0]) {
      try {
        await runOne(id);
      } catch (error) {
        // It stays unfinished; whoever resumes takes it up again.
        parts.failed(error);
      }
      if (!closed) queue.shift();
    }
    running = undefined;
  };

  const runOne = async (id: string): Promise<void> => {
    while (!closed) {
      const endsAt = parts.clock() + chunkMs;
      if (await parts.runChunk(id, () => parts.clock() >= endsAt)) return;
      await parts.pause();
    }
  };

  const start = (id: string): void => {
    if (closed || queue.includes(id)) return;
    queue.push(id);
    running ??= runAll();
  };

  return {
    start,
    async resume() {
      for (const id of await parts.unfinished()) start(id);
    },
    async idle() {
      while (running !== undefined) await running;
    },
    async close() {
      closed = true;
      await running;
    },
  };
}
