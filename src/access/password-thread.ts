// Password thread: hashes passwords on a thread of its own, because the pool of libuv syncs the journal.
import type { Argon2Parameters } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import type { HashAnswer, HashQuestion } from './password-worker.ts';

/** A thread that nobody needs ends after this time. */
const idleMsMax = 60_000;

interface Asked {
  readonly resolve: (tag: Buffer) => void;
  readonly reject: (error: Error) => void;
}

/** The first hash starts the thread. When it ends by an error, its hashes fail and the next one starts another. */
class PasswordThread {
  #worker: Worker | undefined;
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #asked = new Map<number, Asked>();

  derive(parameters: Argon2Parameters): Promise<Buffer> {
    const worker = (this.#worker ??= this.#start());
    clearTimeout(this.#idle);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
      // An idle thread keeps no process alive, one that works does.
      worker.ref();
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
      worker.postMessage({ id, parameters } satisfies HashQuestion);
    });
  }

  #start(): Worker {
    const worker = new Worker(new URL('./password-worker.ts', import.meta.url), {
      name: 'password',
      env: {},
    });
    let cause: unknown;
    worker.on('message', (answer: HashAnswer) => this.#receive(worker, answer));
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', () => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      clearTimeout(this.#idle);
      const gone = new Error('The worker thread that hashes passwords exited', { cause });
      for (const { reject } of this.#asked.values()) reject(gone);
      this.#asked.clear();
    });
    return worker;
  }

  #receive(worker: Worker, { id, tag, error }: HashAnswer): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (tag === undefined) asked?.reject(new Error(error));
    else asked?.resolve(Buffer.from(tag));
    if (this.#asked.size > 0) return;
    worker.unref();
    this.#idle = setTimeout(() => {
      if (this.#worker === worker) this.#worker = undefined;
      void worker.terminate();
    }, idleMsMax).unref();
  }
}

const thread = new PasswordThread();

/** Argon2id of the password, one at a time. */
export function deriveOnThread(parameters: Argon2Parameters): Promise<Buffer> {
  return thread.derive(parameters);
}
