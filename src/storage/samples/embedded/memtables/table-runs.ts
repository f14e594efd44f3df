// Table runs: makes a run readable that counts, with the rows of it that count.
import { crc32 } from 'node:zlib';
import { SectionCache } from '../runs/slice-rows.ts';
import { RunFile, type RunIndex } from '../runs/run-file.ts';
import { RunReader } from '../runs/run-reader.ts';
import { type DeadRows, unknownRetired, type WrittenRun } from '../segments/segment-set.ts';
import type { Interners } from '../segments/chunk-segment.ts';
import type { SegmentFile } from '../segments/segment-file.ts';
import type { ShapeTables } from './shape-tables.ts';
import { TableRun } from './shape-table.ts';

export class TableRuns {
  readonly #interners: Interners;
  readonly #damaged: (path: string, reason: string) => void;
  readonly #cache: SectionCache;
  #runNumber = 0;

  constructor(
    interners: Interners,
    cacheBytes: number,
    /** Called for each page that turns out damaged. */
    damaged: (path: string, reason: string) => void,
  ) {
    this.#interners = interners;
    this.#damaged = damaged;
    this.#cache = new SectionCache(cacheBytes);
  }

  /** `dead` are rows of each origin that count no more. */
  open(file: SegmentFile, index: RunIndex, dead: readonly number[] = []): TableRun {
    const { head } = index;
    const reader = new RunReader({
      run: new RunFile(file, index),
      schema: this.#interners.schemas.of([this.#interners.shapes.fromText(head.shape)]),
      origins: head.origins.map(([workspaceId, dataFlowId]) =>
        this.#interners.origins.of(workspaceId, dataFlowId),
      ),
      cache: this.#cache,
      runNumber: this.#runNumber++,
      damaged: ({ message }) => this.#damaged(file.path, message),
    });
    const rows = head.originRows.map((count, origin) => count - (dead[origin] ?? 0));
    return new TableRun(reader, rows);
  }
}

/** See the manifest. `added` is a run that counts from this manifest on. */
export function deadRowsOf(tables: ShapeTables, added?: WrittenRun): DeadRows {
  const dead: Record<string, readonly number[]> = {};
  for (const table of tables.all())
    for (const run of table.runs) {
      const { deadRows, reader } = run;
      if (deadRows !== undefined) dead[reader.run.file.name] = deadRows;
    }
  const { retired } = tables.numbers;
  // The new run can have rows of a device that was deleted while it was written.
  const isKnown = added === undefined || added.retired === retired.size;
  return { deadRows: dead, retired: isKnown ? checksumOf(retired) : unknownRetired };
}

/** Identifies the retired numbers for which dead rows were counted. */
export function checksumOf(retired: ReadonlySet<number>): number {
  return crc32(Uint32Array.from(retired));
}
