// Shrinkwrap: the versions that were tested, for the packed npm package; a lock file does not travel with it.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isProgram } from '../is-program.ts';
import { type LockFile, readLockFile } from '../lock-file.ts';

const file = 'npm-shrinkwrap.json';

/** The lock file without what only development needs. */
export function shrinkwrapOf({ packages, ...rest }: LockFile): string {
  const entries = Object.entries(packages).filter(([, { dev }]) => dev !== true);
  const kept = entries.map(([path, { devDependencies: _, ...entry }]) => [path, entry] as const);
  return `${JSON.stringify({ ...rest, packages: Object.fromEntries(kept) }, null, 2)}\n`;
}

/** Called with `write` before the package is packed, and with `remove` after it. */
if (isProgram(import.meta.filename)) {
  const root = join(import.meta.dirname, '..', '..');
  if (process.argv[2] === 'write')
    writeFileSync(join(root, file), shrinkwrapOf(readLockFile(root)));
  else rmSync(join(root, file), { force: true });
}
