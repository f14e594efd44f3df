// Records thread: a records worker as the main thread sees it, started when it is first asked.
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

/** Rejects with what SQLite or the disk says, or when the thread breaks; the next question starts another then. */
export interface RecordsThread {
  rows(text: string, parameters: readonly unknown[]): Promise<unknown[]>;
  /** True when the log is empty, on disk too. */
  checkpoint(): Promise<boolean>;
  /** Nothing to do when the thread was never asked. */
  renew(): void;
  close(): Promise<void>;
}

interface Asked {
  readonly resolve: (answer: FromRecordsWorker) => void;
  readonly reject: (error: Error) => void;
}

export function createRecordsThread(start: RecordsWorkerStart): RecordsThread {
  const asked = new Map<number, Asked>();
  let worker: Worker | undefined;
  let lastId = 0;

  const running = (): Worker => {
    if (worker !== undefined) return worker;
    const started = new Worker(new URL('./records-worker.ts', import.meta.url), {
      workerData: start,
      env: {},
    });
    let cause: unknown;
    started.on('message', (answer: FromRecordsWorker) => {
      const waiting = asked.get(answer.id);
      asked.delete(answer.id);
      if (asked.size === 0) started.unref();
      if (answer.error === undefined) return waiting?.resolve(answer);
      const { message, ...codes } = answer.error;
      waiting?.reject(Object.assign(new Error(message), codes));
    });
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      const gone = new Error('The thread of the records database ended', { cause });
      for (const waiting of asked.values()) waiting.reject(gone);
      asked.clear();
    });
    worker = started;
    return started;
  };

  const ask = (question: Ask): Promise<FromRecordsWorker> => {
    const thread = running();
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      asked.set(id, { resolve, reject });
      // An idle thread keeps no process alive, one that works does.
      thread.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
      thread.postMessage({ ...question, id });
    });
  };

  return {
    async rows(text, parameters) {
      const first = await ask({ ask: 'rows', text, parameters });
      const rows = first.rows ?? [];
      for (let { hasMore } = first; hasMore === true; ) {
        const next = await ask({ ask: 'more', of: first.id });
        for (const row of next.rows ?? []) rows.push(row);
        hasMore = next.hasMore;
      }
      return rows;
    },
    checkpoint: async () => (await ask({ ask: 'checkpoint' })).isTruncated === true,
    renew() {
      if (worker !== undefined) void ask({ ask: 'renew' }).catch(() => undefined);
    },
    async close() {
      await worker?.terminate();
    },
  };
}
