// Chunk makers: a few rows become chunks on the main thread, many on another.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { EpochMs } from '../../../../model/instant.ts';
import { JobThread } from '../job-thread.ts';
import type { SortedRows } from '../rows/open-rows.ts';
import type { StoreLimits } from '../store-limits.ts';
import type { Chunk, SchemaInterner } from './chunk.ts';
import { type ChunkJob, chunkOf, type MadeChunks, packRows, sealInChunks } from './chunk-writer.ts';

/** Rows of one device and topic that no longer change. */
export interface RowsToChunk {
  readonly sorted: SortedRows;
  /** The newest time that was sealed before. */
  readonly sealedNewest: EpochMs;
}

/** Most rows have few columns, and are packed at once. */
async function packedInTurns(sorted: SortedRows): Promise<ChunkJob['parts'][number]['rows']> {
  const work = packRows(sorted);
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}

export class ChunkMakers {
  readonly #schemas: SchemaInterner;
  readonly #limits: StoreLimits;
  readonly #failed: (error: unknown) => void;
  readonly #thread = new JobThread<ChunkJob, MadeChunks>(
    () => new Worker(new URL('./chunk-worker.ts', import.meta.url), { name: 'chunks', env: {} }),
    'makes chunks',
  );

  constructor(
    schemas: SchemaInterner,
    limits: StoreLimits,
    /** The thread failed; this one has made the chunks. */
    failed: (error: unknown) => void,
  ) {
    this.#schemas = schemas;
    this.#limits = limits;
    this.#failed = failed;
  }

  readonly close = (): Promise<void> => this.#thread.close();

  /** For each part its chunks in the order of time. A promise when another thread makes them. */
  make(
    parts: readonly RowsToChunk[],
  ): readonly (readonly Chunk[])[] | Promise<readonly (readonly Chunk[])[]> {
    const rows = parts.reduce((sum, { sorted }) => sum + sorted.length, 0);
    return rows > this.#limits.chunkRowsAtOnce ? this.#makeThere(parts) : this.#makeHere(parts);
  }

  #makeHere(parts: readonly RowsToChunk[]): Chunk[][] {
    return parts.map(({ sorted, sealedNewest }) => [
      ...sealInChunks(sorted, sealedNewest, this.#schemas, this.#limits),
    ]);
  }

  async #makeThere(parts: readonly RowsToChunk[]): Promise<readonly (readonly Chunk[])[]> {
    const packed: ChunkJob['parts'][number][] = [];
    for (const { sorted, sealedNewest } of parts)
      packed.push({ rows: await packedInTurns(sorted), sealedNewest });
    const job = {
      parts: packed,
      limits: { rowsMax: this.#limits.rowsMax, rowsToCloseAtDay: this.#limits.rowsToCloseAtDay },
    };
    let made: MadeChunks;
    try {
      made = await this.#thread.run(
        job,
        packed.map(({ rows }) => rows.doubles.buffer),
      );
    } catch (error) {
      this.#failed(error);
      return this.#makeHere(parts);
    }
    return parts.map(({ sorted }, i) =>
      (made[i] ?? []).map((chunk) => chunkOf(chunk, sorted, this.#schemas)),
    );
  }
}
