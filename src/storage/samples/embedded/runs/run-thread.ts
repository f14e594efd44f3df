// Run thread: the worker that writes runs, as the main thread sees it.
import { Worker } from 'node:worker_threads';
import { JobThread } from '../job-thread.ts';
import type { RunIndex } from './run-index.ts';
import type { RunJob } from './run-writing.ts';

/**
 * A job gives the index of the run that was written, undefined when no row was left. It rejects with DamagedChunk when an input cannot
 * be read, with what the disk says, or when the thread ends; no file stays then.
 */
export type RunThread = JobThread<RunJob, RunIndex | undefined>;

export function createRunThread(): RunThread {
  return new JobThread(
    () => new Worker(new URL('./run-worker.ts', import.meta.url), { name: 'runs', env: {} }),
    'writes runs',
  );
}
