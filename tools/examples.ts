// `npm run examples`: runs tests of the interface and keeps an example of each body and answer for the reference.
// `npm run examples -- FOLDER`: adds examples that are missing, from what tests have recorded in the folder.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { allEndpoints } from '../src/contract/endpoint-table.ts';
import { operationIdOf } from '../src/contract/endpoint.ts';
import type { RecordedRequest } from '../tests/world/recorded-examples.ts';
import { chosenExamples, type OperationExample } from './examples/chosen-examples.ts';

const root = join(import.meta.dirname, '..');
const document = join(root, 'src', 'contract', 'examples.json');
/** Tests that ask every endpoint, and see its errors. */
const tests = ['tests/interface', 'tests/records', 'tests/access', 'tests/identity', 'tests/rules'];

const [given] = process.argv.slice(2);
const folder = given ?? mkdtempSync(join(tmpdir(), 'heliograph-examples-'));
if (given === undefined) {
  const env = { ...process.env, RECORD_EXAMPLES: folder };
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  spawnSync(process.execPath, [vitest, 'run', ...tests], { cwd: root, env, stdio: 'inherit' });
}
const recorded = readdirSync(folder).flatMap((name) =>
  readFileSync(join(folder, name), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RecordedRequest),
);
const ids = allEndpoints.map(operationIdOf);
const known = given === undefined ? {} : knownExamples();
const examples = { ...chosenExamples(allEndpoints, recorded), ...known };
const rows = Object.entries(examples)
  .toSorted(([a], [b]) => (a < b ? -1 : 1))
  .map(([id, example]) => `  ${JSON.stringify(id)}: ${JSON.stringify(example)}`);
writeFileSync(document, `{\n${rows.join(',\n')}\n}\n`);
if (given === undefined) rmSync(folder, { recursive: true });
const missing = ids.filter((id) => !(id in examples));
console.log(
  `${rows.length} operations of ${recorded.length} requests; without: ${missing.join(', ') || 'none'}`,
);

/** Of operations that still exist. */
function knownExamples(): Readonly<Record<string, OperationExample>> {
  const known = JSON.parse(readFileSync(document, 'utf8')) as Record<string, OperationExample>;
  return Object.fromEntries(Object.entries(known).filter(([id]) => ids.includes(id)));
}
