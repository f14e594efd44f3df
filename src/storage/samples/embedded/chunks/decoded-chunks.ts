// Recently decoded chunks, within a bound, and the one place where damage met on reading is caught and reported.
import { type Chunk, DamagedChunk } from './chunk.ts';
import type { SortedRows } from '../rows/rows.ts';
import { newScratch, SealedRows } from '../queries/sealed-rows.ts';

/**
 * Values that the decoded chunks kept may hold, if all their columns were decoded; eight bytes
 * each.
 */
const cellsMax = 4_000_000;

export interface DecodedChunks {
  /** The rows of the chunk; undefined when it is damaged. */
  readonly sorted: (chunk: Chunk) => SortedRows | undefined;
  /**
   * The rows of the chunk for one look without a pause: what they give may change with the next
   * call.
   */
  readonly passing: (chunk: Chunk) => SealedRows;
  /** What the reading gives; undefined when it met damage, which is reported once per chunk. */
  readonly guarded: <T>(chunk: Chunk, read: () => T) => T | undefined;
  readonly forget: (chunk: Chunk) => void;
}

export function createDecodedChunks(report: (chunk: Chunk, reason: string) => void): DecodedChunks {
  const kept = new Map<Chunk, SealedRows>();
  const scratch = newScratch();
  let cells = 0;

  function rows(chunk: Chunk): SealedRows {
    const found = kept.get(chunk);
    if (found !== undefined) {
      // Asked for again, it is the last to go.
      kept.delete(chunk);
      kept.set(chunk, found);
      return found;
    }
    const decoded = new SealedRows(chunk);
    kept.set(chunk, decoded);
    cells += cellsOf(chunk);
    for (const oldest of kept.keys()) {
      if (cells <= cellsMax || oldest === chunk) break;
      forget(oldest);
    }
    return decoded;
  }

  function forget(chunk: Chunk): void {
    if (kept.delete(chunk)) cells -= cellsOf(chunk);
  }

  function guarded<T>(chunk: Chunk, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedChunk)) throw error;
      if (!chunk.damaged) report(chunk, error.message);
      chunk.damaged = true;
      forget(chunk);
      return undefined;
    }
  }

  return {
    passing: (chunk) => kept.get(chunk) ?? new SealedRows(chunk, scratch),
    guarded,
    forget,
    sorted: (chunk) =>
      guarded(chunk, () => {
        const decoded = rows(chunk);
        const { timestamps, orders, length } = decoded;
        return { rows: decoded, length, timestamps, orders, permutation: undefined };
      }),
  };
}

function cellsOf(chunk: Chunk): number {
  return chunk.rows * (chunk.schema.columnCount + 3);
}
