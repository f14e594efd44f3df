// `npm run check`: types, lint, imports, dead code and format; one line per step, violations below it.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeInterfaceTypes } from './console-output.ts';
import { importViolations } from './import-rules.ts';
import { runInstalled, type ProgramRun } from './installed-program.ts';

const root = join(import.meta.dirname, '..');
// The linter gets paths: left to itself its type-aware part walks generated folders too.
const lintedPaths = [
  'src',
  'clients',
  'tests',
  'bench',
  'tools',
  'bin',
  'examples',
  'console/src',
  'console/journeys',
  'console/vite.config.ts',
  'knip.ts',
  'vitest.config.ts',
].filter((path) => existsSync(join(root, path)));

/** Each reads all files, and the first three use every core: two at once are enough. */
const stepsAtOnce = 2;
const steps: readonly (readonly [name: string, run: () => Promise<ProgramRun>])[] = [
  [
    'lint',
    () =>
      runInstalled('oxlint', 'oxlint', ['--type-aware', '--deny-warnings', ...lintedPaths], root),
  ],
  ['types', () => checkTypes('.', 'types')],
  ['console types', () => checkTypes('console', 'console-types')],
  [
    'imports',
    async () => {
      const violations = await importViolations(root);
      return { succeeded: violations.length === 0, output: violations.join('\n') };
    },
  ],
  ['dead code', () => runInstalled('knip', 'knip', ['--no-progress', '--no-config-hints'], root)],
  ['format', () => runInstalled('@biomejs/biome', 'biome', ['format', '--colors=off', '.'], root)],
];

/**
 * Checks only files that a change since the last run reaches. Version 7 of the compiler takes a
 * quarter of the time of version 6, which stays for what tools parse and generate with its library.
 */
function checkTypes(project: string, name: string): Promise<ProgramRun> {
  const buildInfo = join('.tmp', `${name}.tsbuildinfo`);
  const options = ['--project', project, '--incremental', '--tsBuildInfoFile', buildInfo];
  return runInstalled('typescript-7', 'tsc', options, root);
}

// Both projects read them, and a fresh clone has none.
await writeInterfaceTypes(root);
const waiting = [...steps];
const lane = async (): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [name, run] = next;
    const startedAt = performance.now();
    const { succeeded, output } = await run();
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(`${succeeded ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
    if (succeeded) continue;
    console.log(output);
    process.exitCode = 1;
  }
};
await Promise.all(Array.from({ length: stepsAtOnce }, lane));
