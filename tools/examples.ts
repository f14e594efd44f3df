// `npm run examples`: runs tests of the interface and keeps an example of each body and answer for the reference.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { allEndpoints } from '../src/contract/endpoint-table.ts';
import { operationIdOf } from '../src/contract/operation-id.ts';
import type { RecordedRequest } from '../tests/world/recorded-examples.ts';
import { chosenExamples } from './examples/chosen-examples.ts';

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
const examples = chosenExamples(allEndpoints, recorded);
const rows = Object.entries(examples).map(
  ([id, example]) => `  ${JSON.stringify(id)}: ${JSON.stringify(example)}`,
);
writeFileSync(document, `{\n${rows.join(',\n')}\n}\n`);
if (given === undefined) rmSync(folder, { recursive: true });
const missing = allEndpoints.map(operationIdOf).filter((id) => !(id in examples));
console.log(
  `${rows.length} operations of ${recorded.length} requests; without: ${missing.join(', ') || 'none'}`,
);
