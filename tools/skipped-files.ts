// Prints the files of a test runner's JSON report in which something was skipped, for .ci/run, which runs them with every program.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { skippedFiles } from './test-report.ts';

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('usage: skipped-files.ts REPORT');
console.log(skippedFiles(readFileSync(path, 'utf8'), process.cwd()).join('\n'));
