// Run jobs: what the thread of runs is asked to do, as messages.
import type { RunNote } from './run-index.ts';
import type { MergeJob } from './run-merging.ts';
import type { MemtableRows } from './run-sealing.ts';

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
