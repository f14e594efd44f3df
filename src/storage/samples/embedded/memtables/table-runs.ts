// Table runs: makes a run readable that counts, with the rows of it that count.
import { crc32 } from 'node:zlib';
import { createSectionCache } from '../runs/section-cache.ts';
import { readRun } from '../runs/run-file.ts';
import type { RunIndex } from '../runs/run-index.ts';
import { createRunReader } from '../runs/run-reader.ts';
import { type Manifest, unknownRetired } from '../segments/manifest.ts';
import type { WrittenRun } from '../segments/segment-set.ts';
import type { Interners } from '../segments/chunk-segment-reader.ts';
import type { SegmentFile } from '../segments/segment-file.ts';
import type { ShapeTables } from './shape-tables.ts';
import { TableRun } from './table-run.ts';

export interface TableRuns {
  /** `dead` are rows of each origin that count no more. */
  readonly open: (file: SegmentFile, index: RunIndex, dead?: readonly number[]) => TableRun;
}

export interface TableRunsParts {
  readonly interners: Interners;
  readonly cacheBytes: number;
  /** Called for each page that turns out damaged. */
  readonly damaged: (path: string, reason: string) => void;
}

export function createTableRuns({ interners, cacheBytes, damaged }: TableRunsParts): TableRuns {
  const cache = createSectionCache(cacheBytes);
  let runNumber = 0;
  return {
    open: (file, index, dead = []) => {
      const { head } = index;
      const reader = createRunReader({
        run: readRun(file, index),
        schema: interners.schemas([interners.shapes.fromText(head.shape)]),
        origins: head.origins.map(([workspaceId, dataFlowId]) =>
          interners.origin(workspaceId, dataFlowId),
        ),
        cache,
        runNumber: runNumber++,
        damaged: ({ message }) => damaged(file.path, message),
      });
      const rows = head.originRows.map((count, origin) => count - (dead[origin] ?? 0));
      return new TableRun(reader, rows);
    },
  };
}

/** See the manifest. `added` is a run that counts from this manifest on. */
export function deadRowsOf(
  tables: ShapeTables,
  added?: WrittenRun,
): Pick<Manifest, 'deadRows' | 'retired'> {
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
