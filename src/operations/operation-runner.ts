// Operation runner: runs operations in short chunks, one organization after the other, also after a restart.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

export interface OperationRunner {
  /** Starts the operation, or queues it behind those in progress. */
  readonly start: (id: string) => void;
  /** Starts every operation that is not completed. */
  readonly resume: () => Promise<void>;
  /** Resolves when the chunk in progress, if any, has ended. */
  readonly chunkEnded: () => Promise<void>;
  /** Resolves when no operation is left to run. */
  readonly idle: () => Promise<void>;
  /** Ends the chunk in progress and starts no other; `resume` continues at the next start. */
  readonly close: () => Promise<void>;
}

interface RunnerParts {
  /** Processes the next items until the time is up. Resolves with true when none is left. */
  readonly runChunk: (id: string, isTimeUp: () => boolean) => Promise<boolean>;
  readonly unfinished: () => Promise<readonly string[]>;
  /** Whether this node runs the operation; with one node, all. */
  readonly isOwn?: (id: string) => boolean;
  /** The organization of the operation. */
  readonly organizationOf: (id: string) => Promise<string>;
  readonly failed: (error: unknown) => void;
  /** Milliseconds of a monotonic clock. */
  readonly clock: () => number;
  /** Lets requests run for this many milliseconds, or for less when there are none. */
  readonly pause: (ms: number) => Promise<void>;
}

/** A chunk holds the database for about this long. */
const chunkMs = 10;

/** Operations of one organization that wait, in order. */
type Line = [string, ...string[]];

export function createOperationRunner(parts: RunnerParts): OperationRunner {
  const arrived: string[] = [];
  const known = new Set<string>();
  // A Map keeps the order of insertion, which is the order of turns: a served organization goes to
  // the end.
  const lines = new Map<string, Line>();
  let running: Promise<void> | undefined;
  let chunk: Promise<boolean> | undefined;
  let closed = false;
  const closing = Promise.withResolvers<void>();
  const { isOwn = () => true } = parts;

  const sortIn = async (): Promise<void> => {
    for (let id = arrived.shift(); id !== undefined; id = arrived.shift()) {
      try {
        const organization = await parts.organizationOf(id);
        enqueue(lines, organization, id);
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
      // Another node continues what is no longer run here.
      chunk = isOwn(ids[0]) ? isEnded(ids[0], parts) : Promise.resolve(true);
      if (await chunk) {
        known.delete(ids[0]);
        ids.shift();
      }
      lines.delete(organization);
      if (ids.length > 0) lines.set(organization, ids);
      // As long as the chunk took, so that requests have half of the time.
      if (!closed) await Promise.race([parts.pause(parts.clock() - startedAt), closing.promise]);
    }
    running = undefined;
  };

  const start = (id: string): void => {
    if (closed || known.has(id) || !isOwn(id)) return;
    known.add(id);
    arrived.push(id);
    running ??= runAll();
  };

  return {
    start,
    async resume() {
      for (const id of await parts.unfinished()) start(id);
    },
    async chunkEnded() {
      await chunk;
    },
    async idle() {
      while (running !== undefined) await running;
    },
    async close() {
      closed = true;
      closing.resolve();
      await running;
    },
  };
}

function enqueue(lines: Map<string, Line>, organization: string, id: string): void {
  const line = lines.get(organization);
  if (line === undefined) lines.set(organization, [id]);
  else line.push(id);
}

/**
 * Runs one chunk. Returns true when the operation is completed, or failed and waits for the next
 * `resume`.
 */
async function isEnded(id: string, { runChunk, clock, failed }: RunnerParts): Promise<boolean> {
  const endsAt = clock() + chunkMs;
  try {
    return await runChunk(id, () => clock() >= endsAt);
  } catch (error) {
    failed(error);
    return true;
  }
}

// Rest between two chunks: as long as others need the main thread, up to the time of a chunk.

const restStepMs = 2;
/** Others that needed less of a step get what they need during the next chunk too. */
const busyShare = 0.5;

/** Resolves after this many milliseconds, or sooner when the main thread has little else to do. */
export async function rest(ms: number): Promise<void> {
  const endsAt = performance.now() + ms;
  for (let left = ms; left > 0; left = endsAt - performance.now()) {
    const before = performance.eventLoopUtilization();
    await delay(Math.min(left, restStepMs));
    if (performance.eventLoopUtilization(before).utilization < busyShare) return;
  }
}
