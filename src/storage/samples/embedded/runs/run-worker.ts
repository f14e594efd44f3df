// Run worker: seals memtables and merges runs on its own thread, one job after the other.
import { closeSync, fdatasyncSync, openSync } from 'node:fs';
import { ShapeInterner } from '../../../log/data-shape.ts';
import { answerJobs } from '../job-thread.ts';
import type { RunIndex } from './run-file.ts';
import { type RunJob, writeRun } from './run-writing.ts';

const shapes = new ShapeInterner();

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

answerJobs(run, (index) =>
  index === undefined
    ? []
    : [index.offsets, index.oldest, index.newest, index.ends].map(({ buffer }) => buffer),
);
