// Recently decoded chunks, within a bound, and the one place where damage met on reading is caught and reported.
import { type Chunk, DamagedChunk } from './chunk.ts';
import type { SortedRows } from '../rows/rows.ts';
import { newScratch, SealedRows } from '../queries/sealed-rows.ts';

/**
 * Values that the decoded chunks kept may hold, if all their columns were decoded; eight bytes
 * each.
 */
const cellsMax = 4_000_000;

export class DecodedChunks {
  readonly #report: (chunk: Chunk, reason: string) => void;
  readonly #kept = new Map<Chunk, SealedRows>();
  readonly #scratch = newScratch();
  #cells = 0;

  constructor(report: (chunk: Chunk, reason: string) => void) {
    this.#report = report;
  }

  /**
   * The rows of the chunk for one look without a pause: what they give may change with the next
   * call.
   */
  readonly passing = (chunk: Chunk): SealedRows =>
    this.#kept.get(chunk) ?? new SealedRows(chunk, this.#scratch);

  /** What the reading gives; undefined when it met damage, which is reported once per chunk. */
  guarded<T>(chunk: Chunk, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedChunk)) throw error;
      if (!chunk.damaged) this.#report(chunk, error.message);
      chunk.damaged = true;
      this.forget(chunk);
      return undefined;
    }
  }

  forget(chunk: Chunk): void {
    if (this.#kept.delete(chunk)) this.#cells -= cellsOf(chunk);
  }

  /** The rows of the chunk; undefined when it is damaged. */
  sorted(chunk: Chunk): SortedRows | undefined {
    return this.guarded(chunk, () => {
      const decoded = this.#rows(chunk);
      const { timestamps, orders, length } = decoded;
      return { rows: decoded, length, timestamps, orders, permutation: undefined };
    });
  }

  #rows(chunk: Chunk): SealedRows {
    const found = this.#kept.get(chunk);
    if (found !== undefined) {
      // Asked for again, it is the last to go.
      this.#kept.delete(chunk);
      this.#kept.set(chunk, found);
      return found;
    }
    const decoded = new SealedRows(chunk);
    this.#kept.set(chunk, decoded);
    this.#cells += cellsOf(chunk);
    for (const oldest of this.#kept.keys()) {
      if (this.#cells <= cellsMax || oldest === chunk) break;
      this.forget(oldest);
    }
    return decoded;
  }
}

function cellsOf(chunk: Chunk): number {
  return chunk.rows * (chunk.schema.columnCount + 3);
}
