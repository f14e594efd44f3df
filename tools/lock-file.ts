// Lock file: the packages of package-lock.json, by their folder.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export const lockFileName = 'package-lock.json';

export interface LockEntry {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly dev?: boolean;
  /** Whether it is for development, and optional without it. */
  readonly devOptional?: boolean;
  readonly peer?: boolean;
}

export interface LockFile {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

/** The lock file of the project at `root`. */
export function readLockFile(root: string): LockFile {
  return JSON.parse(readFileSync(join(root, lockFileName), 'utf8')) as LockFile;
}

/**
 * Folders of the installed packages that the lock file has for production, without those of Node
 * itself.
 */
export function productionPackages(root: string): string[] {
  const lock = readLockFile(root);
  const own = Object.keys(lock.packages['']?.optionalDependencies ?? {});
  const nodes = new Set(own.map((name) => `node_modules/${name}`));
  return Object.entries(lock.packages)
    .filter(
      ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional && !nodes.has(path),
    )
    .map(([path]) => path)
    .filter((path) => statSync(join(root, path), { throwIfNoEntry: false }) !== undefined);
}
