// Reads the test runner's JSON report and prints `PASSED FAILED`, then a line for each failure: for .ci/run, which adds its own steps.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { testTotals } from './test-report.ts';

const [path, exitCode] = process.argv.slice(2);
if (path === undefined || exitCode === undefined)
  throw new Error('usage: test-totals.ts REPORT EXIT_CODE');
const { passed, failed, failures } = testTotals(readFileSync(path, 'utf8'), exitCode === '0');
console.log([`${passed} ${failed}`, ...failures].join('\n'));
