// Document thread: PDF files of dashboards and pictures of their charts, drawn on another thread that starts when it is needed.
import { Worker } from 'node:worker_threads';
import type { DashboardDocument } from './document.ts';
import type { WrittenPdf } from './pdf.ts';

export interface DrawingQuestion {
  readonly id: number;
  readonly document: DashboardDocument;
  readonly wanted: 'pdf' | 'pictures';
}

export type DrawingAnswer = { readonly id: number } & (
  | { readonly pdf: WrittenPdf }
  | { readonly pictures: readonly Uint8Array[] }
  | { readonly error: string }
);

/** The libraries of the thread take memory, and documents are rare. */
const idleMsMax = 30_000;

export class DocumentThread {
  readonly #fonts: string | undefined;
  readonly #waiting = new Map<
    number,
    {
      readonly resolve: (answer: DrawingAnswer) => void;
      readonly reject: (error: Error) => void;
    }
  >();
  #worker: Worker | undefined;
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  /** `fonts` is the folder of the operator for further fonts; it need not exist. */
  constructor(fonts: string | undefined) {
    this.#fonts = fonts;
  }

  /** Rejects with the reason of the signal when it aborts; what is drawn then is thrown away. */
  async pdf(document: DashboardDocument, signal: AbortSignal): Promise<WrittenPdf> {
    const answer = await this.#ask({ document, wanted: 'pdf' }, signal);
    if ('pdf' in answer) return answer.pdf;
    throw new Error('The document thread sent no PDF');
  }

  /** PNG files of the first charts of the document, in the order of its tiles; otherwise as above. */
  async pictures(document: DashboardDocument, signal: AbortSignal): Promise<readonly Uint8Array[]> {
    const answer = await this.#ask({ document, wanted: 'pictures' }, signal);
    if ('pictures' in answer) return answer.pictures;
    throw new Error('The document thread sent no pictures');
  }

  readonly close = async (): Promise<void> => {
    clearTimeout(this.#idle);
    const ended = this.#worker;
    this.#worker = undefined;
    await ended?.terminate();
  };

  async #ask(asked: Omit<DrawingQuestion, 'id'>, signal: AbortSignal): Promise<DrawingAnswer> {
    signal.throwIfAborted();
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<DrawingAnswer>();
    this.#waiting.set(id, { resolve, reject });
    const aborted = () => {
      this.#waiting.delete(id);
      reject(signal.reason as Error);
      // A drawing cannot be interrupted; when nobody waits for the thread, it is not needed either.
      if (this.#waiting.size === 0) void this.close();
    };
    signal.addEventListener('abort', aborted, { once: true });
    this.#worker.ref();
    this.#worker.postMessage({ id, ...asked } satisfies DrawingQuestion);
    try {
      return await promise;
    } finally {
      signal.removeEventListener('abort', aborted);
    }
  }

  #start(): Worker {
    const started = new Worker(new URL('./document-worker.ts', import.meta.url), {
      name: 'documents',
      env: {},
      workerData: { fonts: this.#fonts },
    });
    let cause: unknown;
    started.on('message', (answer: DrawingAnswer) => this.#settle(answer, started));
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (this.#worker !== started && this.#worker !== undefined) return;
      this.#worker = undefined;
      for (const { reject } of this.#waiting.values())
        reject(new Error('The document thread exited', { cause }));
      this.#waiting.clear();
    });
    return started;
  }

  #settle(answer: DrawingAnswer, from: Worker): void {
    const settled = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('error' in answer) settled?.reject(new Error(answer.error));
    else settled?.resolve(answer);
    if (this.#waiting.size > 0 || from !== this.#worker) return;
    from.unref();
    this.#idle = setTimeout(() => void this.close(), idleMsMax).unref();
  }
}
