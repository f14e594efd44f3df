// Run worker: seals memtables and merges runs on its own thread, one job after the other.
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { createShapeInterner } from '../../../log/data-shape.ts';
import type { RunAnswer, RunJob, RunQuestion } from './run-jobs.ts';
import type { RunIndex } from './run-index.ts';
import { writeRun } from './run-writing.ts';

const shapes = createShapeInterner();

function run(job: RunJob): RunIndex | undefined {
  const index = writeRun(job, shapes.fromText);
  if (index !== undefined) syncFile(job.path);
  return index;
}

function syncFile(path: string): void {
  const fd = openSync(path, 'r+');
  try {
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
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
