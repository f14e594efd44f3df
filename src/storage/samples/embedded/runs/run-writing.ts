// Run writing: a job for a run, done where it is called.
import type { DataShape } from '../../../log/data-shape.ts';
import type { RunIndex } from './run-index.ts';
import type { RunJob } from './run-jobs.ts';
import { mergeRuns } from './run-merging.ts';
import { sealMemtable } from './run-sealing.ts';

/** Writes the file of the job without syncing it; undefined when no row was left. */
export function writeRun(job: RunJob, shapeOf: (text: string) => DataShape): RunIndex | undefined {
  if (job.kind === 'merge') return mergeRuns(job, shapeOf);
  return sealMemtable(job, shapeOf(job.shape));
}
