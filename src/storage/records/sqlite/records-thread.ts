// Records thread: client of a records worker, which the first request starts.
import { Worker } from 'node:worker_threads';
import type {
  FromRecordsWorker,
  RecordsWorkerStart,
  ToRecordsWorker,
} from './records-worker-messages.ts';

type Ask = ToRecordsWorker extends infer One
  ? One extends { readonly id: number }
    ? Omit<One, 'id'>
    : never
  : never;

interface Asked {
  readonly resolve: (answer: FromRecordsWorker) => void;
  readonly reject: (error: Error) => void;
}

/** Settles the waiting requests with the messages of the worker, or with its end. */
function settleAnswers(worker: Worker, asked: Map<number, Asked>): void {
  let cause: unknown;
  worker.on('message', (answer: FromRecordsWorker) => {
    const waiting = asked.get(answer.id);
    asked.delete(answer.id);
    if (asked.size === 0) worker.unref();
    if (answer.error === undefined) return waiting?.resolve(answer);
    const { message, ...codes } = answer.error;
    waiting?.reject(Object.assign(new Error(message), codes));
  });
  worker.on('error', (error) => {
    cause = error;
  });
  worker.on('exit', () => {
    const ended = new Error('The thread of the records database ended', { cause });
    for (const waiting of asked.values()) waiting.reject(ended);
    asked.clear();
  });
}

/**
 * Rejects with the error of SQLite or the disk, or when the thread fails. The next request then
 * starts a new thread.
 */
export class RecordsThread {
  readonly #start: RecordsWorkerStart;
  readonly #asked = new Map<number, Asked>();
  #worker: Worker | undefined;
  #lastId = 0;

  constructor(start: RecordsWorkerStart) {
    this.#start = start;
  }

  #running(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const started = new Worker(new URL('./records-worker.ts', import.meta.url), {
      workerData: this.#start,
      name: 'records',
      env: {},
    });
    settleAnswers(started, this.#asked);
    started.on('exit', () => {
      if (this.#worker === started) this.#worker = undefined;
    });
    this.#worker = started;
    return started;
  }

  #ask(request: Ask): Promise<FromRecordsWorker> {
    const thread = this.#running();
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      // Only a working thread keeps the process running.
      thread.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
      thread.postMessage({ ...request, id });
    });
  }

  async rows(text: string, parameters: readonly unknown[]): Promise<unknown[]> {
    const first = await this.#ask({ ask: 'rows', text, parameters });
    const rows = first.rows ?? [];
    for (let { hasMore } = first; hasMore === true; ) {
      const next = await this.#ask({ ask: 'more', of: first.id });
      for (const row of next.rows ?? []) rows.push(row);
      hasMore = next.hasMore;
    }
    return rows;
  }

  /** True when the log is empty on disk. */
  async checkpoint(): Promise<boolean> {
    return (await this.#ask({ ask: 'checkpoint' })).isTruncated === true;
  }

  /** Does nothing before the thread was started. */
  renew(): void {
    if (this.#worker !== undefined) void this.#ask({ ask: 'renew' }).catch(() => undefined);
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }
}
