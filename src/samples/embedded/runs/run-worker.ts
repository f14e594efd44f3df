// Run worker: seals memtables and merges runs on a thread of its own, one job after the other.
import { parentPort } from 'node:worker_threads';
import { shapeInterner } from '../../../log/data-shape.ts';
import type { RunAnswer, RunJob, RunQuestion } from './run-jobs.ts';
import type { RunIndex } from './run-index.ts';
import { mergeRuns } from './run-merging.ts';
import { sealMemtable } from './run-sealing.ts';

const shapes = shapeInterner();

function run(job: RunJob): RunIndex | undefined {
  if (job.kind === 'merge') return mergeRuns(job, shapes.fromText);
  return sealMemtable(job, shapes.fromText(job.shape));
}

function answerTo({ id, job }: RunQuestion): RunAnswer {
  try {
    const index = run(job);
    return index === undefined ? { id } : { id, index };
  } catch (error) {
    const { message, name, code } = error as NodeJS.ErrnoException;
    return { id, error: code === undefined ? { message, name } : { message, name, code } };
  }
}

parentPort?.on('message', (question: RunQuestion) => {
  const answer = answerTo(question);
  const { index } = answer;
  const tables = index === undefined ? [] : [index.offsets, index.oldest, index.newest, index.ends];
  parentPort?.postMessage(
    answer,
    tables.map(({ buffer }) => buffer).filter((buffer, i, all) => all.indexOf(buffer) === i),
  );
});
