// The totals of a test run, from reports the runner really writes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInstalled } from './installed-program.ts';
import { plantedProject } from './fixture-project.ts';
import { testTotals } from './test-report.ts';

const vitest = import.meta.resolve('vitest');
const start = "import { test } from 'vitest';\n";
const passing = `${start}test('a', () => {});\ntest('b', () => {});\n`;
const failing = `${start}test('c', () => {\n  throw new Error('c');\n});\n`;
const broken = "throw new Error('outside');\n";
const unhandled = `${start}test('d', () => {\n  void Promise.reject(new Error('nobody waits'));\n});\n`;

for (const [what, files, totals] of [
  ['only passing tests', { 'a.test.ts': passing }, { passed: 2, failed: 0, failures: [] }],
  [
    'a failing test',
    { 'a.test.ts': passing, 'b.test.ts': failing },
    { passed: 2, failed: 1, failures: ['b.test.ts > c: Error: c'] },
  ],
  [
    'a file that breaks before its tests',
    { 'a.test.ts': passing, 'b.test.ts': broken },
    { passed: 2, failed: 1, failures: ['b.test.ts: outside'] },
  ],
  [
    'an error nobody waited for',
    { 'a.test.ts': unhandled },
    { passed: 1, failed: 1, failures: ['the runner failed outside its tests'] },
  ],
  ['no tests', { 'other.ts': '' }, { passed: 0, failed: 1, failures: ['no test ran'] }],
] as const)
  test(`${what}: ${totals.passed} passed, ${totals.failed} failed`, () => {
    const root = plantedProject(
      Object.fromEntries(
        Object.entries(files).map(([path, text]) => [
          path,
          text.replace("'vitest'", JSON.stringify(vitest)),
        ]),
      ),
    );
    const args = ['run', '--root', root, '--reporter=json', '--outputFile=report.json'];
    const run = runInstalled('vitest', 'vitest', args, root);
    expect(run.succeeded).toBe(totals.failed === 0);
    const found = testTotals(readFileSync(join(root, 'report.json'), 'utf8'), run.succeeded);
    expect({ passed: found.passed, failed: found.failed }).toEqual({
      passed: totals.passed,
      failed: totals.failed,
    });
    expect(found.failures.map((line) => line.replace(`${root}/`, ''))).toEqual(totals.failures);
  });
