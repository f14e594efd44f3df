// Keeps package-lock.json complete: an optional package of another platform has an entry there, or `npm ci` refuses the lock.
// An installation leaves entries out when it could not look such a package up; what it needs is
// known without asking.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type LockEntry,
  type LockFile,
  lockFileName as document,
  readLockFile,
} from './lock-file.ts';
import type { Violation } from './tidy/violation.ts';

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const processors = ['arm64', 'arm', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64'];
const exactVersion = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/** Optional packages that the lock names but has no entry for, with the entry that each needs. */
export function missingEntries(lock: LockFile): Map<string, object> {
  const missing = new Map<string, object>();
  for (const [path, entry] of Object.entries(lock.packages))
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {}))
      if (!isResolvedFrom(lock, path, name))
        missing.set(`node_modules/${name}`, platformEntry(name, version, entry));
  return missing;
}

/** Whether Node would find an entry for the package from the folder of the one that names it. */
function isResolvedFrom(lock: LockFile, path: string, name: string): boolean {
  for (
    let folder = path;
    ;
    folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))
  ) {
    if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in lock.packages) return true;
    if (folder === '') return false;
  }
}

function platformEntry(name: string, version: string, namedBy: LockEntry): object {
  const words = name.slice(name.lastIndexOf('/') + 1).split('-');
  const os = systems.find((system) => words.includes(system));
  const cpu = processors.find((processor) => words.includes(processor));
  if (os === undefined || cpu === undefined || !exactVersion.test(version))
    throw new Error(
      `${name}@${version} names no platform: its entry in ${document} has to be written by hand`,
    );
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : words.some((word) => word.startsWith('gnu'))
      ? 'glibc'
      : undefined;
  return {
    version,
    cpu: [cpu],
    ...(namedBy.dev === true ? { dev: true } : {}),
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    os: [os],
    ...(namedBy.peer === true ? { peer: true } : {}),
  };
}

/** Missing entries of the lock. */
export function lockViolations(root: string): Violation[] {
  if (!existsSync(join(root, document))) return [];
  const names = [...missingEntries(readLockFile(root)).keys()].map((path) =>
    path.slice('node_modules/'.length),
  );
  if (names.length === 0) return [];
  return [
    { path: document, message: `no entry for ${names.join(', ')}: run "npm run tidy -- --fix"` },
  ];
}

/** Adds the missing entries in their alphabetical places; answers whether anything changed. */
export function completeLock(root: string): boolean {
  if (!existsSync(join(root, document))) return false;
  const lock = readLockFile(root);
  const missing = missingEntries(lock);
  if (missing.size === 0) return false;
  const packages = Object.entries({ ...lock.packages, ...Object.fromEntries(missing) });
  const sorted = Object.fromEntries(packages.toSorted(([a], [b]) => a.localeCompare(b, 'en')));
  writeFileSync(
    join(root, document),
    `${JSON.stringify({ ...lock, packages: sorted }, null, 2)}\n`,
  );
  return true;
}
