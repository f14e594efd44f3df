// Prints the files of a test runner's JSON report in which something was skipped, or failed: for .ci/run, which runs them again.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { failedFiles, skippedFiles } from './test-report.ts';

const [which, path] = process.argv.slice(2);
if (path === undefined || (which !== 'skipped' && which !== 'failed'))
  throw new Error('usage: files-to-repeat.ts skipped|failed REPORT');
const files = which === 'skipped' ? skippedFiles : failedFiles;
console.log(files(readFileSync(path, 'utf8'), process.cwd()).join('\n'));
