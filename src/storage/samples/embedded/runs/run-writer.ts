// Run writer: writes the pages and then the index; its calls to the disk are synchronous.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { columnKindOf, sectionsOf } from './page-format.ts';
import type { DataShape } from '../../../log/data-shape.ts';
import { createPageWriter, type PageWriter } from './page-writer.ts';
import {
  encodeIndex,
  indexOf,
  type PlacedPage,
  runFormat,
  type RunIndex,
  type RunNote,
} from './run-index.ts';

/** Bytes of pages that are written with one call. */
const writeBytes = 1 << 20;

export interface NewRun {
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

interface RunWriter {
  readonly pages: PageWriter;
  /** Writes the index; the file is not synced. */
  readonly end: () => RunIndex;
  /** Removes what was written. */
  readonly discard: () => void;
}

/**
 * Writes the run without syncing it; undefined when `writeRows` returns that it wrote no row.
 * Nothing stays on the disk then, nor when it throws.
 */
export function writeRun(
  newRun: NewRun,
  writeRows: (pages: PageWriter) => number,
): RunIndex | undefined {
  const run = openRunWriter(newRun);
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
function openRunWriter(run: NewRun): RunWriter {
  const { path, shape, topic, texts, origins, keepFrom, note } = run;
  const kinds = shape.leaves.map(({ kind }) => columnKindOf(kind));
  const file = openFileWriter(path);
  const placed: PlacedPage[] = [];
  const originRows = origins.map(() => 0);
  let maxOrder = -1;
  const pages = createPageWriter({
    kinds,
    texts,
    emit: (entry, bytes) => {
      placed.push({ ...entry, offset: file.length() });
      file.write(bytes);
      const { origins: ids, orders } = pages.rows;
      for (let row = 0; row < entry.rows; row++) {
        originRows[ids[row]!]!++;
        if (orders[row]! > maxOrder) maxOrder = orders[row]!;
      }
    },
  });
  return {
    pages,
    end: () => {
      pages.flush();
      const head = {
        format: runFormat,
        shape: shape.text,
        topic,
        rows: placed.reduce((sum, { rows }) => sum + rows, 0),
        oldest: placed.reduce((least, { oldest }) => Math.min(least, oldest), Infinity),
        newest: placed.reduce((most, { newest }) => Math.max(most, newest), -Infinity),
        pages: placed.length,
        sections: sectionsOf(kinds.length),
        origins,
        originRows,
        keptFrom: keepFrom.map((from) => (Number.isFinite(from) ? from : null)),
        maxOrder,
        ...note,
      };
      const index = indexOf(head, placed, 0);
      file.write(encodeIndex(index));
      file.end();
      return { ...index, bytes: file.length() };
    },
    discard: () => {
      file.close();
      rmSync(path, { force: true });
    },
  };
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
