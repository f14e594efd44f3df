// The totals and the skipped files of a test run, from reports the runner really writes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runInstalled } from './installed-program.ts';
import { plantedProject } from './fixture-project.ts';
import { failedFiles, skippedFiles, testTotals } from './test-report.ts';

const vitest = import.meta.resolve('vitest');
const start = "import { test } from 'vitest';\n";
const passing = `${start}test('a', () => {});\ntest('b', () => {});\n`;
const failing = `${start}test('c', () => {\n  throw new Error('c');\n});\n`;
const broken = "throw new Error('outside');\n";
const unhandled = `${start}test('d', () => {\n  void Promise.reject(new Error('nobody waits'));\n});\n`;

/** Runs the tests of the files; `vitest` in them is the runner's own path. */
async function reportOf(files: Readonly<Record<string, string>>) {
  const root = plantedProject(
    Object.fromEntries(
      Object.entries(files).map(([path, text]) => [
        path,
        text.replace("'vitest'", JSON.stringify(vitest)),
      ]),
    ),
  );
  const args = ['run', '--root', root, '--reporter=json', '--outputFile=report.json'];
  const { succeeded } = await runInstalled('vitest', 'vitest', args, root);
  return { root, succeeded, report: readFileSync(join(root, 'report.json'), 'utf8') };
}

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
  test(`${what}: ${totals.passed} passed, ${totals.failed} failed`, async () => {
    const { root, succeeded, report } = await reportOf(files);
    expect(succeeded).toBe(totals.failed === 0);
    const found = testTotals(report, succeeded);
    expect({ passed: found.passed, failed: found.failed }).toEqual({
      passed: totals.passed,
      failed: totals.failed,
    });
    expect(found.failures.map((line) => line.replace(`${root}/`, ''))).toEqual(totals.failures);
  });

test('files with a skipped test or suite', async () => {
  const skippedTest = `${start}test('a', () => {});\ntest.skipIf(true)('b', () => {});\n`;
  const skippedSuite = `${start.replace('test', 'describe, test')}describe.skipIf(true)('c', () => {\n  test('d', () => {});\n});\n`;
  const { root, report } = await reportOf({
    'passing.test.ts': passing,
    'failing.test.ts': failing,
    'one/skipped.test.ts': skippedTest,
    'suite.test.ts': skippedSuite,
  });
  expect(skippedFiles(report, root).toSorted()).toEqual(['one/skipped.test.ts', 'suite.test.ts']);
});

test('a file that passes in a second run counts as passed and is told', async () => {
  const first = await reportOf({ 'a.test.ts': passing, 'b.test.ts': failing, 'c.test.ts': broken });
  expect(failedFiles(first.report, first.root).toSorted()).toEqual(['b.test.ts', 'c.test.ts']);
  const second = first.report
    .replaceAll('"failed"', '"passed"')
    .replace(/c\.test\.ts/g, 'd.test.ts');
  const found = testTotals(first.report, false, { reportText: second, succeeded: true });
  expect(found).toMatchObject({ passed: 3, failed: 1 });
  expect(found.unsteady).toEqual([`${first.root}/b.test.ts > c: Error: c`]);
  expect(found.failures).toEqual([`${first.root}/c.test.ts: outside`]);
  const failedAgain = { reportText: second, succeeded: false };
  expect(testTotals(first.report, false, failedAgain)).toMatchObject({ passed: 2, failed: 2 });
});
