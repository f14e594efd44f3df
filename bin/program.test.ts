// The program to run: the bundle while it is of the sources, else the sources; its traces name the sources.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { bundleProgram } from '../tools/program-output.ts';

const { programOf } = (await import(join(import.meta.dirname, 'program.js'))) as {
  readonly programOf: (root: string) => string;
};
const root = mkdtempSync(join(tmpdir(), 'heliograph-program-'));
const output = join(root, '.program');
const path = (...names: string[]) => join(root, ...names);
afterAll(() => rmSync(root, { recursive: true }));

/** Prints what a thread answers, and fails where the second line says. */
const sources = {
  'main.ts': `import { Worker } from 'node:worker_threads';
import { fail } from './parts/failing.ts';
const worker = new Worker(new URL('./parts/answer-thread.ts', import.meta.url));
worker.on('message', (text: string) => { console.log(text); fail(new URL('.', import.meta.url).pathname); });\n`,
  'parts/failing.ts': `export interface Unused {}
export function fail(where: string): never { throw new Error(where); }\n`,
  'parts/answer-thread.ts': `import { parentPort } from 'node:worker_threads';
const text: string = 'answered';
parentPort?.postMessage(text);\n`,
};

test('the bundle runs with its threads, its traces and addresses name the sources, and a change brings the sources back', async () => {
  for (const folder of ['src/parts', 'bin']) mkdirSync(path(folder), { recursive: true });
  for (const [name, text] of Object.entries(sources)) writeFileSync(path('src', name), text);
  symlinkSync(join(import.meta.dirname, '..', 'node_modules'), path('node_modules'));
  expect(programOf(root)).toBe(path('src', 'main.ts'));
  const first = await bundleProgram(root, output);
  expect(first).toEqual({ program: programOf(root), sources: 3 });
  const run = spawnSync(process.execPath, [first.program], { encoding: 'utf8' });
  expect(run.stdout).toBe('answered\n');
  expect(run.stderr).toContain(`Error: ${path('src')}/`);
  expect(run.stderr).toContain(`${path('src', 'parts', 'failing.ts')}:2:`);

  // A program that runs still has its parts after the next one.
  const next = await bundleProgram(root, output);
  expect(programOf(root)).toBe(next.program);
  utimesSync(path('src', 'parts', 'failing.ts'), 1, 1);
  expect(programOf(root)).toBe(path('src', 'main.ts'));
  rmSync(path('src', 'parts', 'failing.ts'));
  expect(programOf(root)).toBe(path('src', 'main.ts'));
  writeFileSync(join(output, 'sources.json'), '{');
  expect(programOf(root)).toBe(path('src', 'main.ts'));
}, 60_000);
