// Chunk makers: a few rows become chunks on the main thread, many on another.
import { Worker } from 'node:worker_threads';
import type { EpochMs } from '../../../../model/instant.ts';
import { createJobThread } from '../job-thread.ts';
import type { SortedRows } from '../rows/rows.ts';
import type { StoreLimits } from '../store-limits.ts';
import type { Chunk } from './chunk.ts';
import { sealInChunks } from './chunk-cuts.ts';
import { type ChunkJob, chunkOf, type MadeChunks, packRows } from './chunk-jobs.ts';
import type { SchemaInterner } from './chunk-schema.ts';

/** Rows of one device and topic that no longer change. */
export interface RowsToChunk {
  readonly sorted: SortedRows;
  /** The newest time that was sealed before. */
  readonly sealedNewest: EpochMs;
}

export interface ChunkMakers {
  /** For each part its chunks in the order of time. A promise when another thread makes them. */
  readonly make: (
    parts: readonly RowsToChunk[],
  ) => readonly (readonly Chunk[])[] | Promise<readonly (readonly Chunk[])[]>;
  readonly close: () => Promise<void>;
}

export interface ChunkMakerParts {
  readonly schemas: SchemaInterner;
  readonly limits: Pick<StoreLimits, 'rowsMax' | 'rowsToCloseAtDay' | 'chunkRowsAtOnce'>;
  /** The thread failed; this one has made the chunks. */
  readonly failed: (error: unknown) => void;
}

export function createChunkMakers({ schemas, limits, failed }: ChunkMakerParts): ChunkMakers {
  const { rowsMax, rowsToCloseAtDay, chunkRowsAtOnce } = limits;
  const thread = createJobThread<ChunkJob, MadeChunks>(
    () => new Worker(new URL('./chunk-worker.ts', import.meta.url), { env: {} }),
    'makes chunks',
  );

  const makeHere = (parts: readonly RowsToChunk[]): Chunk[][] =>
    parts.map(({ sorted, sealedNewest }) => [
      ...sealInChunks(sorted, sealedNewest, { schemas, limits }),
    ]);

  async function makeThere(parts: readonly RowsToChunk[]): Promise<readonly (readonly Chunk[])[]> {
    const packed = parts.map(({ sorted, sealedNewest }) => ({
      rows: packRows(sorted),
      sealedNewest,
    }));
    const job = { parts: packed, limits: { rowsMax, rowsToCloseAtDay } };
    let made: MadeChunks;
    try {
      made = await thread.run(
        job,
        packed.map(({ rows }) => rows.doubles.buffer),
      );
    } catch (error) {
      failed(error);
      return makeHere(parts);
    }
    return parts.map(({ sorted }, i) =>
      (made[i] ?? []).map((chunk) => chunkOf(chunk, sorted, schemas)),
    );
  }

  return {
    make: (parts) => {
      const rows = parts.reduce((sum, { sorted }) => sum + sorted.length, 0);
      return rows > chunkRowsAtOnce ? makeThere(parts) : makeHere(parts);
    },
    close: thread.close,
  };
}
