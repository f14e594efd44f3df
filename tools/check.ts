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
];

const steps: Readonly<Record<string, () => ProgramRun | Promise<ProgramRun>>> = {
  types: () =>
    runInstalled(
      'typescript',
      'tsc',
      ['--project', '.', '--incremental', '--tsBuildInfoFile', '.tmp/types.tsbuildinfo'],
      root,
    ),
  'console types': async () => {
    await writeInterfaceTypes(root);
    const buildInfo = '.tmp/console-types.tsbuildinfo';
    const options = ['--project', 'console', '--incremental', '--tsBuildInfoFile', buildInfo];
    return runInstalled('typescript', 'tsc', options, root);
  },
  lint: () =>
    runInstalled(
      'oxlint',
      'oxlint',
      ['--type-aware', '--deny-warnings', ...present(lintedPaths)],
      root,
    ),
  imports: async () => {
    const violations = await importViolations(root);
    return { succeeded: violations.length === 0, output: violations.join('\n') };
  },
  'dead code': () => runInstalled('knip', 'knip', ['--no-progress', '--no-config-hints'], root),
  format: () => runInstalled('@biomejs/biome', 'biome', ['format', '--colors=off', '.'], root),
};

function present(paths: readonly string[]): string[] {
  return paths.filter((path) => existsSync(join(root, path)));
}

for (const [name, step] of Object.entries(steps)) {
  const startedAt = performance.now();
  const { succeeded, output } = await step();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${succeeded ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  if (succeeded) continue;
  console.log(output);
  process.exitCode = 1;
}
