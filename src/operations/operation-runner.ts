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

/** A chunk holds the database for about this long. */
const chunkMs = 10;

/** Operations of one organization that wait, in order. */
type Line = [string, ...string[]];

/** Runs the operations of this node. */
export class ChunkRunner implements OperationRunner {
  readonly #parts;
  readonly #isOwn: (id: string) => boolean;
  readonly #arrived: string[] = [];
  readonly #known = new Set<string>();
  // A Map keeps the order of insertion, which is the order of turns: a served organization goes to
  // the end.
  readonly #lines = new Map<string, Line>();
  #running: Promise<void> | undefined;
  #chunk: Promise<boolean> | undefined;
  #closed = false;
  readonly #closing = Promise.withResolvers<void>();

  constructor(parts: {
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
  }) {
    this.#parts = parts;
    this.#isOwn = parts.isOwn ?? (() => true);
  }

  readonly start = (id: string): void => {
    if (this.#closed || this.#known.has(id) || !this.#isOwn(id)) return;
    this.#known.add(id);
    this.#arrived.push(id);
    this.#running ??= this.#runAll();
  };

  readonly resume = async (): Promise<void> => {
    for (const id of await this.#parts.unfinished()) this.start(id);
  };

  readonly chunkEnded = async (): Promise<void> => {
    await this.#chunk;
  };

  readonly idle = async (): Promise<void> => {
    while (this.#running !== undefined) await this.#running;
  };

  readonly close = async (): Promise<void> => {
    this.#closed = true;
    this.#closing.resolve();
    await this.#running;
  };

  async #runAll(): Promise<void> {
    const { clock, pause } = this.#parts;
    while (!this.#closed) {
      await this.#sortIn();
      const next = this.#lines.entries().next().value;
      if (next === undefined) break;
      const [organization, ids] = next;
      const startedAt = clock();
      // Another node continues what is no longer run here.
      this.#chunk = this.#isOwn(ids[0]) ? this.#isEnded(ids[0]) : Promise.resolve(true);
      if (await this.#chunk) {
        this.#known.delete(ids[0]);
        ids.shift();
      }
      this.#lines.delete(organization);
      if (ids.length > 0) this.#lines.set(organization, ids);
      // As long as the chunk took, so that requests have half of the time.
      if (!this.#closed) await Promise.race([pause(clock() - startedAt), this.#closing.promise]);
    }
    this.#running = undefined;
  }

  async #sortIn(): Promise<void> {
    for (let id = this.#arrived.shift(); id !== undefined; id = this.#arrived.shift()) {
      try {
        const organization = await this.#parts.organizationOf(id);
        const line = this.#lines.get(organization);
        if (line === undefined) this.#lines.set(organization, [id]);
        else line.push(id);
      } catch (error) {
        this.#known.delete(id);
        this.#parts.failed(error);
      }
    }
  }

  /**
   * Runs one chunk. Returns true when the operation is completed, or failed and waits for the next
   * `resume`.
   */
  async #isEnded(id: string): Promise<boolean> {
    const { runChunk, clock, failed } = this.#parts;
    const endsAt = clock() + chunkMs;
    try {
      return await runChunk(id, () => clock() >= endsAt);
    } catch (error) {
      failed(error);
      return true;
    }
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
