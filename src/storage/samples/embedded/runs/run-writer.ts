// Run writer: writes the pages and then the index; its calls to the disk are synchronous.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { type ColumnKind, columnKindOf, sectionsOf } from './page-format.ts';
import type { DataShape } from '../../../log/data-shape.ts';
import { PageWriter } from './page-writer.ts';
import {
  encodeIndex,
  indexOf,
  type PlacedPage,
  runFormat,
  type RunIndex,
  type RunNote,
} from './run-file.ts';

/** Bytes of pages that are written with one call. */
const writeBytes = 1 << 20;

interface NewRun {
  readonly path: string;
  readonly shape: DataShape;
  readonly topic: string;
  /** May grow until `end`; rows refer to them by index. */
  readonly texts: readonly string[];
  readonly origins: readonly (readonly [string, string | null])[];
  /** By origin: rows before have expired and were omitted. */
  readonly keepFrom: readonly number[];
  readonly note: RunNote;
}

/**
 * Writes the run without syncing it; undefined when `writeRows` returns that it wrote no row.
 * Nothing stays on the disk then, nor when it throws.
 */
export function writeRun(
  newRun: NewRun,
  writeRows: (pages: PageWriter) => number,
): RunIndex | undefined {
  const run = new RunWriter(newRun);
  try {
    if (writeRows(run.pages) > 0) return run.end();
  } catch (error) {
    run.discard();
    throw error;
  }
  run.discard();
  return undefined;
}

/** Creates the file, which is whole when `end` has returned. */
class RunWriter {
  readonly #path: string;
  readonly #shape: DataShape;
  readonly #topic: string;
  readonly #origins: readonly (readonly [string, string | null])[];
  readonly #keepFrom: readonly number[];
  readonly #note: RunNote;
  readonly #kinds: ColumnKind[];
  readonly #file: {
    length: () => number;
    write: (bytes: Uint8Array) => void;
    end: () => void;
    close: () => void;
  };
  readonly #placed: PlacedPage[] = [];
  readonly #originRows: number[];
  #maxOrder = -1;
  readonly #pages: PageWriter;

  constructor(run: NewRun) {
    const { path, shape, topic, texts, origins, keepFrom, note } = run;
    this.#path = path;
    this.#shape = shape;
    this.#topic = topic;
    this.#origins = origins;
    this.#keepFrom = keepFrom;
    this.#note = note;
    this.#kinds = this.#shape.leaves.map(({ kind }) => columnKindOf(kind));
    this.#file = openFileWriter(this.#path);
    this.#originRows = this.#origins.map(() => 0);
    this.#pages = new PageWriter({
      kinds: this.#kinds,
      texts,
      emit: (entry, bytes) => {
        this.#placed.push({ ...entry, offset: this.#file.length() });
        this.#file.write(bytes);
        const { origins: ids, orders } = this.#pages.rows;
        for (let row = 0; row < entry.rows; row++) {
          this.#originRows[ids[row]!]!++;
          if (orders[row]! > this.#maxOrder) this.#maxOrder = orders[row]!;
        }
      },
    });
  }

  get pages(): PageWriter {
    return this.#pages;
  }

  /** Writes the index; the file is not synced. */
  end(): RunIndex {
    this.#pages.flush();
    const head = {
      format: runFormat,
      shape: this.#shape.text,
      topic: this.#topic,
      rows: this.#placed.reduce((sum, { rows }) => sum + rows, 0),
      oldest: this.#placed.reduce((least, { oldest }) => Math.min(least, oldest), Infinity),
      newest: this.#placed.reduce((most, { newest }) => Math.max(most, newest), -Infinity),
      pages: this.#placed.length,
      sections: sectionsOf(this.#kinds.length),
      origins: this.#origins,
      originRows: this.#originRows,
      keptFrom: this.#keepFrom.map((from) => (Number.isFinite(from) ? from : null)),
      maxOrder: this.#maxOrder,
      ...this.#note,
    };
    const index = indexOf(head, this.#placed, 0);
    this.#file.write(encodeIndex(index));
    this.#file.end();
    return { ...index, bytes: this.#file.length() };
  }

  /** Removes what was written. */
  discard(): void {
    this.#file.close();
    rmSync(this.#path, { force: true });
  }
}

/** Collects bytes and writes them in large parts. */
function openFileWriter(path: string) {
  const fd = openSync(path, 'w');
  const waiting = Buffer.allocUnsafeSlow(writeBytes);
  let filled = 0;
  let written = 0;
  let isOpen = true;

  function writeAll(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    written += bytes.length;
  }

  function flush(): void {
    const bytes = waiting.subarray(0, filled);
    filled = 0;
    writeAll(bytes);
  }

  function close(): void {
    if (isOpen) closeSync(fd);
    isOpen = false;
  }

  return {
    length: (): number => written + filled,
    write: (bytes: Uint8Array): void => {
      if (filled + bytes.length > waiting.length) flush();
      if (bytes.length > waiting.length) {
        writeAll(bytes);
        return;
      }
      waiting.set(bytes, filled);
      filled += bytes.length;
    },
    end: (): void => {
      flush();
      close();
    },
    close,
  };
}
