// `npm run tidy`: checks the house rules; --fix updates the lock; --map prints the code map.
import { join } from 'node:path';
import { codeMap } from './code-map.ts';
import { completeLock } from './lock-entries.ts';
import { tidyViolations } from './tidy/house-rules.ts';
import { projectFiles } from './tidy/project-files.ts';
import { violationText } from './tidy/violation.ts';

const root = join(import.meta.dirname, '..');
const [option] = process.argv.slice(2);

if (option === '--map') console.log(codeMap(projectFiles(root)));
else {
  if (option === '--fix') fix();
  check();
}

function fix(): void {
  if (completeLock(root)) console.log('package-lock.json: missing entries added');
}

function check(): void {
  const violations = tidyViolations(root);
  for (const violation of violations) console.error(violationText(violation));
  if (violations.length === 0) console.log('tidy: no violation');
  else {
    console.log(`tidy: ${violations.length} to fix`);
    process.exitCode = 1;
  }
}
