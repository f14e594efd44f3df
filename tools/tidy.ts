// `npm run tidy`: checks the house rules; --fix updates the lock and the allowed counts; --map prints the code map.
import { join } from 'node:path';
import { codeMap } from './code-map.ts';
import { completeLock } from './lock-entries.ts';
import { tidyViolations } from './tidy/house-rules.ts';
import { projectFiles } from './tidy/project-files.ts';
import { lowerAllowed, ratchets } from './tidy/ratchets.ts';
import { violationText } from './tidy/violation.ts';

const root = join(import.meta.dirname, '..');
const [option, ...names] = process.argv.slice(2);

if (option === '--map') console.log(codeMap(projectFiles(root)));
else if (option === '--list') listPlaces(names.join(' '));
else {
  if (option === '--fix') fix();
  check();
}

function fix(): void {
  const files = projectFiles(root);
  if (completeLock(root)) console.log('package-lock.json: missing entries added');
  if (lowerAllowed(root, files)) console.log('tools/tidy/allowed.txt: counts lowered');
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

/** Prints the places of all counts whose name contains `name`, or the counts when it is empty. */
function listPlaces(name: string): void {
  for (const ratchet of ratchets(root, projectFiles(root))) {
    if (!ratchet.name.includes(name)) continue;
    console.log(`${ratchet.places.length} ${ratchet.name}`);
    if (name === '') continue;
    for (const { path, line } of ratchet.places) console.log(`  ${path}:${line}`);
  }
}
