// Part encoder: the parts of an export as bytes of its file, encoded on other threads.
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import type { SampleExportFormat } from '../../model/sample-export.ts';
import { csvPart } from './sample-lines.ts';
import { type ParquetPart, parquetHead } from './parquet-part.ts';

export type PartQuestion = { readonly id: number; readonly offset: number } & (
  | { readonly lines: string; readonly format: SampleExportFormat }
  | { readonly footers: readonly Uint8Array[] }
);

export type PartAnswer =
  | { readonly id: number; readonly part: ParquetPart }
  | { readonly id: number; readonly error: string };

/** A part of a file, and what its end must say of the part. */
export interface EncodedPart {
  readonly bytes: Uint8Array;
  readonly footer: Uint8Array;
}

const none = new Uint8Array();
/** The library of the thread takes memory, and exports are rare. */
const idleMsMax = 30_000;
const gzipAsync = promisify(gzip);

export class PartEncoder {
  readonly #thread = createPartThread();

  readonly close = (): Promise<void> => this.#thread.close();

  /** What a file of the format begins with. */
  head(format: SampleExportFormat): Uint8Array {
    return format === 'parquet' ? parquetHead : none;
  }

  /** Lines of `sampleLine`, as bytes for the place `offset` of the file. */
  async part(format: SampleExportFormat, lines: string, offset: number): Promise<EncodedPart> {
    if (format === 'parquet') return this.#thread.ask({ lines, offset, format });
    // Members of gzip after each other are one file of gzip.
    if (format === 'ndjson') return { bytes: await gzipAsync(lines), footer: none };
    const { bytes } = await this.#thread.ask({ lines, offset, format });
    return { bytes: await gzipAsync(bytes), footer: none };
  }

  /**
   * What follows the last part, at the place `offset` of the file; `footers` are those of all
   * parts in their order, if the file is Parquet.
   */
  async tail(
    format: SampleExportFormat,
    footers: readonly Uint8Array[],
    offset: number,
  ): Promise<Uint8Array> {
    // A file of gzip has at least one member, and one of CSV its header.
    if (format === 'csv') return offset === 0 ? gzipAsync(csvPart('', true)) : none;
    if (format === 'ndjson') return offset === 0 ? gzipAsync('') : none;
    return (await this.#thread.ask({ footers, offset })).bytes;
  }
}

interface Asked {
  readonly resolve: (part: ParquetPart) => void;
  readonly reject: (error: Error) => void;
}

type Question =
  | Omit<Extract<PartQuestion, { lines: string }>, 'id'>
  | Omit<Extract<PartQuestion, { footers: unknown }>, 'id'>;

function createPartThread() {
  const asked = new Map<number, Asked>();
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  function settle(answer: PartAnswer, from: Worker): void {
    const waiting = asked.get(answer.id);
    asked.delete(answer.id);
    if ('part' in answer) waiting?.resolve(answer.part);
    else waiting?.reject(new Error(answer.error));
    if (asked.size > 0) return;
    from.unref();
    idle = setTimeout(() => void end(), idleMsMax).unref();
  }

  function start(): Worker {
    const started = new Worker(new URL('./part-worker.ts', import.meta.url), { env: {} });
    let cause: unknown;
    started.on('message', (answer: PartAnswer) => settle(answer, started));
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      for (const { reject } of asked.values())
        reject(new Error('The export worker thread exited', { cause }));
      asked.clear();
    });
    return started;
  }

  async function end(): Promise<void> {
    clearTimeout(idle);
    const ended = worker;
    worker = undefined;
    await ended?.terminate();
  }

  return {
    ask: (question: Question) =>
      new Promise<ParquetPart>((resolve, reject) => {
        clearTimeout(idle);
        worker ??= start();
        const id = ++lastId;
        asked.set(id, { resolve, reject });
        worker.ref();
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
        worker.postMessage({ id, ...question } satisfies PartQuestion);
      }),
    close: end,
  };
}
