// `npm run tidy`: checks the house rules; with --fix it first writes the code map anew and completes the lock.
import { join } from 'node:path';
import { rewriteCodeMap } from './code-map.ts';
import { completeLock } from './lock-entries.ts';
import { breachText } from './tidy/violation.ts';
import { tidyBreaches } from './tidy/house-rules.ts';
import { projectFiles } from './tidy/project-files.ts';

const root = join(import.meta.dirname, '..');

if (process.argv.includes('--fix')) {
  if (rewriteCodeMap(root, projectFiles(root))) console.log('ARCHITECTURE.md: code map written');
  if (completeLock(root)) console.log('package-lock.json: missing entries added');
}

const breaches = tidyBreaches(root);
for (const breach of breaches) console.error(breachText(breach));
console.log(breaches.length === 0 ? 'tidy: no breach' : `tidy: ${breaches.length} to mend`);
process.exitCode = breaches.length === 0 ? 0 : 1;
