// Started programs are recognized, also when the pinned Node imports them.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'heliograph-is-program-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const address = pathToFileURL(join(root, 'tools/is-program.ts')).href;
const printing = `import { isProgram } from '${address}';\nconsole.log(isProgram(import.meta.filename));\n`;
writeFileSync(join(folder, 'program.ts'), printing);
writeFileSync(join(folder, 'importing.ts'), `import './program.ts';\n`);

test.each([
  ['started by Node', [join(folder, 'program.ts')], 'true'],
  [
    'started by the preflight',
    [join(root, 'bin/preflight.js'), join(folder, 'program.ts')],
    'true',
  ],
  ['imported by another program', [join(folder, 'importing.ts')], 'false'],
])('%s', (_, args, expected) => {
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect(stdout.trim()).toBe(expected);
});
