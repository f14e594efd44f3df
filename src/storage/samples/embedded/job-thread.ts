// Job thread: a worker that does one job after the other, started when it is first asked.
import { parentPort, type Transferable, type Worker } from 'node:worker_threads';
import { DamagedChunk } from './chunks/chunk.ts';

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
export class JobThread<Job, Done> {
  readonly #startWorker: () => Worker;
  readonly #purpose: string;
  readonly #asked = new Map<number, Asked<Done>>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(startWorker: () => Worker, purpose: string) {
    this.#startWorker = startWorker;
    this.#purpose = purpose;
  }

  readonly close = async (): Promise<void> => {
    await this.#worker?.terminate();
  };

  /**
   * Resolves with what the worker made of the job; `moved` are buffers of the job that this thread
   * gives away. Rejects with what the worker has thrown, with its class and code, or when the
   * thread ends.
   */
  run(job: Job, moved: readonly Transferable[] = []): Promise<Done> {
    return new Promise((resolve, reject) => {
      this.#worker ??= this.#start();
      const id = ++this.#lastId;
      this.#asked.set(id, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage({ id, job } satisfies Question<Job>, moved);
    });
  }

  #settle({ id, done, error }: Answer<Done>, from: Worker): void {
    const waiting = this.#asked.get(id);
    this.#asked.delete(id);
    // An idle thread keeps no process alive, one that works does.
    if (this.#asked.size === 0) from.unref();
    if (error === undefined) waiting?.resolve(done as Done);
    else waiting?.reject(errorOf(error));
  }

  #start(): Worker {
    const started = this.#startWorker();
    let cause: unknown;
    started.on('message', (answer: Answer<Done>) => this.#settle(answer, started));
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (this.#worker === started) this.#worker = undefined;
      for (const { reject } of this.#asked.values())
        reject(new Error(`The worker thread that ${this.#purpose} exited`, { cause }));
      this.#asked.clear();
    });
    return started;
  }
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
