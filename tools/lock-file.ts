// Lock file: the packages of package-lock.json, by their folder.
import { readFileSync } from 'node:fs';
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
