// Recently decoded chunks, within a bound, and the one place where damage met on reading is caught and reported.
import { type Chunk, DamagedChunk } from './chunk.ts';
import type { StoreLimits } from '../store-limits.ts';
import type { SortedRows } from '../rows/rows.ts';
import { newScratch, SealedRows } from '../queries/sealed-rows.ts';

/** What a chunk takes before anything of it is decoded. */
const chunkBytes = 500;

interface KeptRows {
  readonly rows: SealedRows;
  /** Whether values were asked for, and not kept yet. */
  isAsked: boolean;
  bytes: number;
}

/**
 * Keeps rows by their chunk. A chunk never changes, and one that is merged, dropped or past its
 * retention is another chunk or none, so what is kept is right for as long as somebody asks for it.
 */
export class DecodedChunks {
  readonly #report: (chunk: Chunk, reason: string) => void;
  readonly #kept = new Map<Chunk, KeptRows>();
  readonly #scratch = newScratch();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(
    report: (chunk: Chunk, reason: string) => void,
    { keptChunkBytes }: Pick<StoreLimits, 'keptChunkBytes'>,
  ) {
    this.#report = report;
    this.#bytesMax = keptChunkBytes;
  }

  /** What the kept rows take. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The rows of the chunk for one look without a pause: what they give may change with the next
   * call.
   */
  readonly passing = (chunk: Chunk): SealedRows => {
    const rows = this.#kept.get(chunk)?.rows;
    return rows?.isRead === true ? rows : new SealedRows(chunk, { scratch: this.#scratch });
  };

  /** Whether the chunk was asked for before; from now on it was. */
  readonly isReturning = (chunk: Chunk): boolean => {
    if (this.#kept.has(chunk)) return true;
    this.keeping(chunk);
    return false;
  };

  /**
   * As `passing` the first time and as `keeping` from then on: memory for the values of a chunk
   * costs more than decoding them once.
   */
  readonly returning = (chunk: Chunk): SealedRows => {
    const rows = this.keeping(chunk);
    const kept = this.#kept.get(chunk);
    if (kept === undefined || kept.isAsked) return rows;
    kept.isAsked = true;
    return this.passing(chunk);
  };

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
    const kept = this.#kept.get(chunk);
    if (kept === undefined) return;
    this.#kept.delete(chunk);
    this.#bytes -= kept.bytes;
  }

  /** The rows of the chunk; undefined when it is damaged. */
  sorted(chunk: Chunk): SortedRows | undefined {
    return this.guarded(chunk, () => {
      const decoded = this.keeping(chunk);
      const { timestamps, orders, length } = decoded;
      return { rows: decoded, length, timestamps, orders, permutation: undefined };
    });
  }

  /** The rows of the chunk, which stay in memory with what is decoded of them. */
  readonly keeping = (chunk: Chunk): SealedRows => {
    const found = this.#kept.get(chunk);
    if (found !== undefined) {
      // Asked for again, it is the last to go.
      this.#kept.delete(chunk);
      this.#kept.set(chunk, found);
      return found.rows;
    }
    const kept: KeptRows = {
      rows: new SealedRows(chunk, { kept: (bytes) => this.#note(chunk, kept, bytes) }),
      isAsked: false,
      bytes: 0,
    };
    this.#kept.set(chunk, kept);
    this.#note(chunk, kept, chunkBytes);
    return kept.rows;
  };

  #note(chunk: Chunk, kept: KeptRows, bytes: number): void {
    // A reader that pauses may go on with rows that were forgotten meanwhile.
    if (this.#kept.get(chunk) !== kept) return;
    kept.bytes += bytes;
    this.#bytes += bytes;
    if (this.#bytes <= this.#bytesMax) return;
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= this.#bytesMax || oldest === chunk) break;
      this.forget(oldest);
    }
  }
}
