// Job thread: a worker that does one job after the other, started when it is first asked.
import { parentPort, type Transferable, type Worker } from 'node:worker_threads';
import { DamagedChunk } from './chunks/chunk.ts';

export interface JobThread<Job, Done> {
  /**
   * Resolves with what the worker made of the job; `moved` are buffers of the job that this thread gives away. Rejects with what the
   * worker has thrown, with its class and code, or when the thread ends.
   */
  readonly run: (job: Job, moved?: readonly Transferable[]) => Promise<Done>;
  readonly close: () => Promise<void>;
}

interface Question<Job> {
  readonly id: number;
  readonly job: Job;
}

interface Answer<Done> {
  readonly id: number;
  readonly done?: Done;
  readonly error?: { readonly message: string; readonly name: string; readonly code?: string };
}

interface Asked<Done> {
  readonly resolve: (done: Done) => void;
  readonly reject: (error: Error) => void;
}

/** `purpose` completes "The thread that ...". The next job after its end starts another. */
export function createJobThread<Job, Done>(
  startWorker: () => Worker,
  purpose: string,
): JobThread<Job, Done> {
  const asked = new Map<number, Asked<Done>>();
  let worker: Worker | undefined;
  let lastId = 0;

  function settle({ id, done, error }: Answer<Done>, from: Worker): void {
    const waiting = asked.get(id);
    asked.delete(id);
    // An idle thread keeps no process alive, one that works does.
    if (asked.size === 0) from.unref();
    if (error === undefined) waiting?.resolve(done as Done);
    else waiting?.reject(errorOf(error));
  }

  function start(): Worker {
    const started = startWorker();
    let cause: unknown;
    started.on('message', (answer: Answer<Done>) => settle(answer, started));
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      for (const { reject } of asked.values())
        reject(new Error(`The worker thread that ${purpose} exited`, { cause }));
      asked.clear();
    });
    return started;
  }

  return {
    run: (job, moved = []) =>
      new Promise((resolve, reject) => {
        worker ??= start();
        const id = ++lastId;
        asked.set(id, { resolve, reject });
        worker.ref();
        worker.postMessage({ id, job } satisfies Question<Job>, moved);
      }),
    close: async () => {
      await worker?.terminate();
    },
  };
}

/** The worker's error with its class and code again. */
function errorOf({ message, name, code }: NonNullable<Answer<unknown>['error']>): Error {
  if (name === 'DamagedChunk') return new DamagedChunk(message);
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

/** In the worker: does the jobs. `movedOf` are buffers of the result that the worker gives away. */
export function answerJobs<Job, Done>(
  run: (job: Job) => Done,
  movedOf: (done: Done) => readonly Transferable[],
): void {
  parentPort?.on('message', ({ id, job }: Question<Job>) => {
    const answer = answerTo(id, () => run(job));
    const moved = answer.done === undefined ? [] : movedOf(answer.done);
    parentPort?.postMessage(answer, [...new Set(moved)]);
  });
}

function answerTo<Done>(id: number, run: () => Done): Answer<Done> {
  try {
    return { id, done: run() };
  } catch (error) {
    const { message, name, code } = error as NodeJS.ErrnoException;
    return { id, error: code === undefined ? { message, name } : { message, name, code } };
  }
}
