// Password hashes: Argon2id in the PHC form, with its parameters, so that they can be raised later.
import { type Argon2Parameters, randomBytes, timingSafeEqual } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { problem } from '../model/problem.ts';
import { passwordWeakness } from './password-rules.ts';
import type { HashAnswer, HashQuestion } from './password-worker.ts';

// OWASP's first recommendation: 19 MiB, two passes, one lane.
const cost = { memory: 19_456, passes: 2, parallelism: 1 } as const;
const tagLength = 32;
const nonceLength = 16;
const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(nonceLength);
  const tag = await deriveOnThread({ message: password, nonce, tagLength, ...cost });
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${text(nonce)}$${text(tag)}`;
}

/** Whether the password is the one that was hashed; takes the same time either way. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const { cost: hashCost, nonce, tag: expected } = parsed(hash);
  const found = await deriveOnThread({
    message: password,
    nonce,
    tagLength: expected.length,
    ...hashCost,
  });
  return timingSafeEqual(found, expected);
}

function parsed(hash: string) {
  const match = form.exec(hash);
  if (match === null) throw new Error('A password hash has an unknown form');
  const [, memory, passes, parallelism, nonce = '', tag = ''] = match;
  return {
    cost: { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) },
    nonce: Buffer.from(nonce, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  };
}

function text(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}

/** The hash of a chosen password; `names` as in `passwordWeakness`. Throws Problem 400 for one that is too easily guessed. */
export async function newPasswordHash(
  password: string,
  email: string,
  names: readonly string[] = [],
): Promise<string> {
  const reason = passwordWeakness(password, email, names);
  if (reason !== undefined) throw problem('passwordTooWeak', { reason });
  return hashPassword(password);
}

// Password thread: hashes passwords on a thread of its own, because the pool of libuv syncs the journal.

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
function deriveOnThread(parameters: Argon2Parameters): Promise<Buffer> {
  return thread.derive(parameters);
}
