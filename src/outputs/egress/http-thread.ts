// HTTP thread: an exchange on its own thread, so that requests cost the main thread only messages.
import { Worker } from 'node:worker_threads';
import { setTimer } from '../../structures/timers.ts';
import type { HttpAnswer, HttpCall, HttpExchange } from './http-exchange.ts';
import {
  type FromHttpThread,
  type HttpThreadStart,
  type ToHttpThread,
  unpackError,
} from './http-messages.ts';

const threadLimits = {
  /** Of the bodies in one message; a turn can have several. */
  messageCharactersMax: 1024 * 1024,
  /** How long closing waits for the end of the thread, which a lookup of a name can hold. */
  closeMsMax: 2_000,
} as const;

type HttpThreadOptions = HttpThreadStart & {
  /** Notified when the thread ended by an error. */
  readonly failed: (error: Error) => void;
};

type Done = (result: HttpAnswer | Error) => void;

interface State {
  /** Calls without an answer. */
  readonly waiting: Map<number, Done>;
  /** What the next message contains. */
  calls: [id: number, call: HttpCall][];
  stopped: number[];
  /** Of the bodies in the next message. */
  characters: number;
  worker: Worker | undefined;
  lastId: number;
  isClosed: boolean;
}

/** The first call starts the thread. When it ends, its calls fail and the next one starts another. */
export function createHttpThread(options: HttpThreadOptions): HttpExchange {
  const state: State = {
    waiting: new Map(),
    calls: [],
    stopped: [],
    characters: 0,
    worker: undefined,
    lastId: 0,
    isClosed: false,
  };
  const send = (): void => sendCollected(state, options);
  const sendSoon = (): void => {
    if (state.calls.length + state.stopped.length === 1) setImmediate(send);
    if (state.characters > threadLimits.messageCharactersMax) send();
  };
  return {
    start(call, done) {
      const id = ++state.lastId;
      state.waiting.set(id, done);
      state.calls.push([id, call]);
      state.characters += call.body?.length ?? 0;
      sendSoon();
      return () => {
        if (!state.waiting.delete(id)) return;
        state.stopped.push(id);
        sendSoon();
      };
    },
    async close() {
      state.isClosed = true;
      await ended(state.worker);
      fail(state, new Error('The platform is shutting down'));
    },
  };
}

/** Sends what was collected in this turn of the event loop. */
function sendCollected(state: State, options: HttpThreadOptions): void {
  const { calls, stopped } = state;
  if (calls.length === 0 && (stopped.length === 0 || state.worker === undefined)) return;
  Object.assign(state, { calls: [], stopped: [], characters: 0 });
  if (state.isClosed) return;
  try {
    const worker = (state.worker ??= startWorker(state, options));
    if (state.waiting.size > 0) worker.ref();
    const message: ToHttpThread = { calls, stopped };
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
    worker.postMessage(message);
  } catch (error) {
    ranOut(state, options, error);
  }
}

function startWorker(state: State, options: HttpThreadOptions): Worker {
  const { allow, onlyAllowed, own } = options;
  const start: HttpThreadStart = { allow, onlyAllowed, own };
  const worker = new Worker(new URL('./http-worker.ts', import.meta.url), {
    workerData: start,
    name: 'http',
    env: {},
  });
  let cause: unknown;
  worker.on('message', (answers: FromHttpThread) => receive(state, worker, answers));
  worker.on('error', (error) => {
    cause = error;
  });
  worker.on('exit', () => {
    state.worker = undefined;
    if (!state.isClosed) ranOut(state, options, cause);
  });
  return worker;
}

function receive({ waiting }: State, worker: Worker, answers: FromHttpThread): void {
  for (const [id, result] of answers) {
    const done = waiting.get(id);
    waiting.delete(id);
    done?.('error' in result ? unpackError(result) : result);
  }
  // An idle thread keeps no process alive, one that works does.
  if (waiting.size === 0) worker.unref();
}

/** The thread ended by itself or cannot be started. */
function ranOut(state: State, { failed }: HttpThreadOptions, cause: unknown): void {
  const error = new Error('The worker thread that sends HTTP requests exited', { cause });
  failed(error);
  fail(state, error);
}

/** Fails the calls, except those that were not sent yet. */
function fail({ waiting, calls, isClosed }: State, error: Error): void {
  const unsent = new Set(isClosed ? [] : calls.map(([id]) => id));
  for (const [id, done] of waiting) {
    if (unsent.has(id)) continue;
    waiting.delete(id);
    done(error);
  }
}

async function ended(worker: Worker | undefined): Promise<void> {
  if (worker === undefined) return;
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = setTimer(resolve, threadLimits.closeMsMax);
  await Promise.race([worker.terminate(), late]);
  cancel();
}
