// Run writing: what the thread of runs is asked to do, as messages, and a job done where it is called.
import type { DataShape } from '../../../log/data-shape.ts';
import type { RunIndex, RunNote } from './run-index.ts';
import { type MergeJob, mergeRuns } from './run-merging.ts';
import { type MemtableRows, sealMemtable } from './run-sealing.ts';

/** Writes the file of the job without syncing it; undefined when no row was left. */
export function writeRun(job: RunJob, shapeOf: (text: string) => DataShape): RunIndex | undefined {
  if (job.kind === 'merge') return mergeRuns(job, shapeOf);
  return sealMemtable(job, shapeOf(job.shape));
}

// Run jobs: what the thread of runs is asked to do, as messages.

export type RunJob =
  | {
      readonly kind: 'seal';
      readonly path: string;
      readonly shape: string;
      /** Its arrays are shared memory. */
      readonly rows: MemtableRows;
      readonly without: ReadonlySet<number>;
      readonly note: RunNote;
    }
  | ({ readonly kind: 'merge' } & MergeJob);
