// Run makers: small runs are written on the main thread, large ones on two threads.
import { open, rm } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import type { DataShape } from '../../../log/data-shape.ts';
import type { StoreLimits } from '../store-limits.ts';
import type { RunIndex } from './run-file.ts';
import { type RunJob, writeRun } from './run-writing.ts';
import { JobThread } from '../job-thread.ts';

export class RunMakers {
  readonly #shapeOf: (text: string) => DataShape;
  readonly #runRowsAtOnce: number;
  readonly #threads: Readonly<Record<RunJob['kind'], RunThread>> = {
    seal: createRunThread(),
    merge: createRunThread(),
  };

  constructor(shapeOf: (text: string) => DataShape, { runRowsAtOnce }: StoreLimits) {
    this.#shapeOf = shapeOf;
    this.#runRowsAtOnce = runRowsAtOnce;
  }

  readonly close = async (): Promise<void> => {
    for (const thread of Object.values(this.#threads)) await thread.close();
  };

  /**
   * Makes the file of the run durable; returns its index, undefined when no row was left. `rows`
   * is their number at most. Rejects with DamagedChunk when an input cannot be read, or with what
   * the disk says; no file stays then.
   */
  async make(job: RunJob, rows: number): Promise<RunIndex | undefined> {
    if (rows > this.#runRowsAtOnce) return this.#threads[job.kind].run(job);
    const index = writeRun(job, this.#shapeOf);
    if (index !== undefined) await syncFile(job.path);
    return index;
  }
}

/** Removes the file when that fails. */
async function syncFile(path: string): Promise<void> {
  try {
    const file = await open(path, 'r+');
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

// Run thread: the worker that writes runs, as the main thread sees it.

/**
 * A job gives the index of the run that was written, undefined when no row was left. It rejects with DamagedChunk when an input cannot
 * be read, with what the disk says, or when the thread ends; no file stays then.
 */
type RunThread = JobThread<RunJob, RunIndex | undefined>;

export function createRunThread(): RunThread {
  return new JobThread(
    () => new Worker(new URL('./run-worker.ts', import.meta.url), { name: 'runs', env: {} }),
    'writes runs',
  );
}
