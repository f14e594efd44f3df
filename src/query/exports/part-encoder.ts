// Part encoder: the parts of an export as bytes of its file, encoded on other threads.
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { gzip } from 'node:zlib';
import type { SampleExportFormat, SampleExportPlan } from '../../model/operation.ts';
import type { PartContent } from './export-file.ts';
import {
  buffersOf,
  type ColumnSource,
  type PartColumns,
  PartColumnsContent,
} from './part-columns.ts';
import { type ParquetPart, parquetHead } from './parquet-part.ts';
import { csvPart, type PartLines, PartLinesContent, type SampleSource } from './sample-lines.ts';

/** Columns and footers of Parquet, or lines that become CSV. */
export type AskedPart =
  | { readonly columns: PartColumns }
  | { readonly lines: PartLines }
  | { readonly footers: readonly Uint8Array[] };

export type PartQuestion = AskedPart & { readonly id: number; readonly offset: number };

export type PartAnswer =
  | { readonly id: number; readonly part: ParquetPart }
  | { readonly id: number; readonly error: string };

export type ExportContent = PartContent<PartColumns | PartLines>;

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

  /** What samples are collected in for a part of the format. */
  content(plan: SampleExportPlan, source: SampleSource & ColumnSource): ExportContent {
    return plan.format === 'parquet'
      ? new PartColumnsContent(source, plan)
      : new PartLinesContent(source, plan);
  }

  /** The content as bytes for the place `offset` of the file. Columns are used up. */
  async part(
    format: SampleExportFormat,
    content: PartColumns | PartLines,
    offset: number,
  ): Promise<{
    readonly bytes: Uint8Array;
    readonly footer: Uint8Array;
    readonly samples: number;
  }> {
    if ('blocks' in content) return this.#thread.ask({ columns: content }, offset);
    const { samples } = content;
    // Members of gzip after each other are one file of gzip.
    if (format === 'ndjson')
      return { bytes: await gzipAsync(content.lines), footer: none, samples };
    const { bytes } = await this.#thread.ask({ lines: content }, offset);
    return { bytes: await gzipAsync(bytes), footer: none, samples };
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
    return (await this.#thread.ask({ footers }, offset)).bytes;
  }
}

function createPartThread() {
  const waiting = new Map<
    number,
    { readonly resolve: (part: ParquetPart) => void; readonly reject: (error: Error) => void }
  >();
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;

  function settle(answer: PartAnswer, from: Worker): void {
    const settled = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('part' in answer) settled?.resolve(answer.part);
    else settled?.reject(new Error(answer.error));
    if (waiting.size > 0) return;
    from.unref();
    idle = setTimeout(() => void end(), idleMsMax).unref();
  }

  function start(): Worker {
    const started = new Worker(new URL('./part-worker.ts', import.meta.url), {
      name: 'export',
      env: {},
    });
    let cause: unknown;
    started.on('message', (answer: PartAnswer) => settle(answer, started));
    started.on('error', (error) => {
      cause = error;
    });
    started.on('exit', () => {
      if (worker === started) worker = undefined;
      for (const { reject } of waiting.values())
        reject(new Error('The export worker thread exited', { cause }));
      waiting.clear();
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
    ask: (asked: AskedPart, offset: number) =>
      new Promise<ParquetPart>((resolve, reject) => {
        clearTimeout(idle);
        worker ??= start();
        const id = ++lastId;
        waiting.set(id, { resolve, reject });
        worker.ref();
        const question: PartQuestion = { id, offset, ...asked };
        worker.postMessage(question, 'columns' in asked ? buffersOf(asked.columns) : []);
      }),
    close: end,
  };
}
