// The data folder belongs to one process at a time: a lock that the operating system releases however the process ends.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The folder cannot be used; the message says why and what to do. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
}

export interface DataFolder {
  readonly path: string;
  release(): void;
}

/** Creates the folder when it is missing and claims it. Throws DataFolderError when another process holds it. */
export function claimDataFolder(path: string): DataFolder {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw new DataFolderError(`The data folder ${path} cannot be created: ${(error as Error).message}`);
  }
  const holderPath = join(path, 'holder.txt');
  // An exclusive SQLite transaction is a lock file that no crash leaves behind.
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(path, 'lock.db'));
    lock.exec('PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE');
    writeFileSync(holderPath, `process ${process.pid}`);
  } catch (error) {
    lock?.close();
    if (/locked|busy/i.test((error as Error).message)) {
      throw new DataFolderError(
        `The data folder ${path} is in use by another Heliograph (${holderOf(holderPath)}): stop that one first, or set DATA_DIR to another folder.`,
      );
    }
    throw new DataFolderError(`The data folder ${path} cannot be written: ${(error as Error).message}`);
  }
  const held = lock;
  return {
    path,
    release() {
      held.exec('ROLLBACK');
      held.close();
    },
  };
}

function holderOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return 'process unknown';
  }
}
