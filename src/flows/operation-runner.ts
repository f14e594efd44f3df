// Runs operations in short chunks, of one organization after the other and with as long a rest after each, also after a restart.

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
  /** Whose operation it is. */
  readonly organizationOf: (id: string) => Promise<string>;
  readonly failed: (error: unknown) => void;
  /** Milliseconds, for lengths of time only. */
  readonly clock: () => number;
  /** Lets others have their turn for so many milliseconds. */
  readonly pause: (ms: number) => Promise<void>;
}

/** A chunk holds the database for about this long. */
const chunkMs = 10;

/** Operations of one organization that wait, in order. */
type Line = [string, ...string[]];

export function createOperationRunner(parts: RunnerParts): OperationRunner {
  const arrived: string[] = [];
  const known = new Set<string>();
  // A Map keeps the order of insertion, which is the order of turns: whoever was served is put at its end.
  const lines = new Map<string, Line>();
  let running: Promise<void> | undefined;
  let closed = false;

  const sortIn = async (): Promise<void> => {
    for (let id = arrived.shift(); id !== undefined; id = arrived.shift()) {
      try {
        const organization = await parts.organizationOf(id);
        const line = lines.get(organization);
        if (line === undefined) lines.set(organization, [id]);
        else line.push(id);
      } catch (error) {
        known.delete(id);
        parts.failed(error);
      }
    }
  };

  const runAll = async (): Promise<void> => {
    while (!closed) {
      await sortIn();
      const next = lines.entries().next().value;
      if (next === undefined) break;
      const [organization, ids] = next;
      const startedAt = parts.clock();
      if (await isEnded(ids[0], parts)) {
        known.delete(ids[0]);
        ids.shift();
      }
      lines.delete(organization);
      if (ids.length > 0) lines.set(organization, ids);
      // As long as the chunk took: requests have half of the time, whatever is to be done.
      if (!closed) await parts.pause(parts.clock() - startedAt);
    }
    running = undefined;
  };

  const start = (id: string): void => {
    if (closed || known.has(id)) return;
    known.add(id);
    arrived.push(id);
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

/** Runs one chunk. Returns true when the operation is completed, or failed and waits for the next `resume`. */
async function isEnded(
  id: string,
  { runChunk, clock, failed }: Pick<RunnerParts, 'runChunk' | 'clock' | 'failed'>,
): Promise<boolean> {
  const endsAt = clock() + chunkMs;
  try {
    return await runChunk(id, () => clock() >= endsAt);
  } catch (error) {
    failed(error);
    return true;
  }
}
