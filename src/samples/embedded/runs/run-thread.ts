// Run thread: the worker of runs as the main thread sees it, started when it is first asked.
import { Worker } from 'node:worker_threads';
import { DamagedChunk } from '../chunks/chunk.ts';
import type { RunIndex } from './run-index.ts';
import type { RunAnswer, RunJob } from './run-jobs.ts';

export interface RunThread {
  /**
   * Returns the index of the run that was written, undefined when no row was left. Rejects with DamagedChunk when an input cannot be
   * read, with what the disk says, or when the thread ends; no file stays then.
   */
  readonly run: (job: RunJob) => Promise<RunIndex | undefined>;
  readonly close: () => Promise<void>;
}

interface Asked {
  readonly resolve: (index: RunIndex | undefined) => void;
  readonly reject: (error: Error) => void;
}

export function createRunThread(): RunThread {
  const asked = new Map<number, Asked>();
  let worker: Worker | undefined;
  let lastId = 0;

  function settle({ id, index, error }: RunAnswer, from: Worker): void {
    const waiting = asked.get(id);
    asked.delete(id);
    // An idle thread keeps no process alive, one that works does.
    if (asked.size === 0) from.unref();
    if (error === undefined) waiting?.resolve(index);
    else waiting?.reject(errorOf(error));
  }

  function start(): Worker {
    const started = new Worker(new URL('./run-worker.ts', import.meta.url), { env: {} });
    let cause: unknown;
    started.on('message', (answer: RunAnswer) => settle(answer, started));
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      for (const { reject } of asked.values())
        reject(new Error('The thread that writes runs ended', { cause }));
      asked.clear();
    });
    return started;
  }

  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        worker ??= start();
        const id = ++lastId;
        asked.set(id, { resolve, reject });
        worker.ref();
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
        worker.postMessage({ id, job });
      }),
    close: async () => {
      await worker?.terminate();
    },
  };
}

/** The worker's error with its class and code again. */
function errorOf({ message, name, code }: NonNullable<RunAnswer['error']>): Error {
  if (name === 'DamagedChunk') return new DamagedChunk(message);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}
