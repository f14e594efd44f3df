// Reads the test runner's JSON report and prints `PASSED FAILED UNSTEADY`, then a line for each failure and for each that passed in the second run: for .ci/run, which adds its own steps.
import { existsSync, readFileSync } from 'node:fs';
import process from 'node:process';
import { testTotals } from './test-report.ts';

const [path, exitCode, secondPath, secondExitCode] = process.argv.slice(2);
if (path === undefined || exitCode === undefined)
  throw new Error('usage: test-totals.ts REPORT EXIT_CODE [SECOND_REPORT EXIT_CODE]');
const second =
  secondPath !== undefined && existsSync(secondPath)
    ? { reportText: readFileSync(secondPath, 'utf8'), succeeded: secondExitCode === '0' }
    : null;
const { passed, failed, failures, unsteady } = testTotals(
  readFileSync(path, 'utf8'),
  exitCode === '0',
  second,
);
console.log([`${passed} ${failed} ${unsteady.length}`, ...failures, ...unsteady].join('\n'));
