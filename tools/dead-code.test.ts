// The dead-code check, with the project's own settings, catches a planted unused export, file and package.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInstalled } from './installed-program.ts';
import { plantedProject } from './fixture-project.ts';

const root = join(import.meta.dirname, '..');
const settings = readFileSync(join(root, 'knip.ts'), 'utf8');

function deadCode(
  files: Readonly<Record<string, string>>,
  dependencies: Readonly<Record<string, string>> = {},
) {
  const planted = plantedProject({
    'package.json': JSON.stringify({ name: 'planted', type: 'module', dependencies }),
    'tsconfig.json': readFileSync(join(root, 'tsconfig.json'), 'utf8'),
    'knip.ts': settings,
    'src/main.ts':
      "import { used } from './model/a.ts';\nimport type { Shape } from './model/a.ts';\nused(1 as Shape);\n",
    'src/model/a.ts':
      'export type Shape = number;\nexport function used(shape: Shape): void {\n  void shape;\n}\n',
    ...files,
  });
  return runInstalled('knip', 'knip', ['--no-progress', '--no-config-hints'], planted);
}

test('a project in which everything is used passes', async () => {
  expect(await deadCode({})).toEqual({ succeeded: true, output: '' });
});

test('an unused export is caught', async () => {
  const run = await deadCode({
    'src/model/a.ts':
      'export type Shape = number;\nexport const used = Number;\nexport const unused = 1;\n',
  });
  expect(run.succeeded).toBe(false);
  expect(run.output).toMatch(/Unused exports \(1\)\s+unused\s+src\/model\/a\.ts/);
});

test('an unused exported type is caught', async () => {
  const run = await deadCode({
    'src/model/a.ts':
      'export type Shape = number;\nexport const used = Number;\nexport type Unused = string;\n',
  });
  expect(run.succeeded).toBe(false);
  expect(run.output).toContain('Unused');
});

test('a file that nothing reaches is caught', async () => {
  const run = await deadCode({ 'src/model/dead.ts': 'export const dead = 1;\n' });
  expect(run.succeeded).toBe(false);
  expect(run.output).toMatch(/Unused files \(1\)\s+src\/model\/dead\.ts/);
});

test('a worker named by its address counts as reached', async () => {
  const worker =
    "import { Worker } from 'node:worker_threads';\nexport const used = (n: number) => new Worker(new URL('./worker.ts', import.meta.url), { workerData: n });\nexport type Shape = number;\n";
  expect(
    await deadCode({ 'src/model/a.ts': worker, 'src/model/worker.ts': 'export {};\n' }),
  ).toEqual({
    succeeded: true,
    output: '',
  });
});

test('a package that nothing imports is caught', async () => {
  const run = await deadCode({}, { fastify: '1.0.0' });
  expect(run.succeeded).toBe(false);
  expect(run.output).toMatch(/Unused dependencies \(1\)\s+fastify/);
});
