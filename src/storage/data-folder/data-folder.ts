// Data folder: locked by one process; the operating system releases the lock when it ends.
import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isDiskFull } from '../../model/problem.ts';
import { readChecked, replaceChecked, replaceFile } from '../log/durable-file.ts';

/** The folder cannot be used; the message says why and what to do. */
export class DataFolderError extends Error {
  override readonly name = 'DataFolderError';
}

/** Of the folder: nobody but its owner may look into it. */
const ownerOnly = 0o700;

/**
 * Creates the folder, for its owner alone, when it is missing, and claims it. Throws
 * DataFolderError when another process holds it.
 */
export class DataFolder {
  readonly path: string;
  readonly #held: DatabaseSync;

  constructor(path: string) {
    this.path = path;
    try {
      keepMade(path, mkdirSync(path, { recursive: true, mode: ownerOnly }));
    } catch (error) {
      throw new DataFolderError(
        `The data folder ${path} cannot be created: ${(error as Error).message}`,
      );
    }
    const holderPath = join(path, 'holder.txt');
    // An exclusive SQLite transaction is a lock that no crash leaves behind. Without a journal it
    // needs no room on the disk.
    let lock: DatabaseSync | undefined;
    try {
      lock = new DatabaseSync(join(path, 'lock.db'));
      lock.exec('PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE');
      noteHolder(holderPath);
    } catch (error) {
      lock?.close();
      if (/locked|busy/i.test((error as Error).message)) {
        throw new DataFolderError(
          `The data folder ${path} is in use by another Heliograph process (${holderOf(holderPath)}). Stop it first, or set DATA_DIR to another folder.`,
        );
      }
      throw new DataFolderError(
        `The data folder ${path} cannot be written: ${(error as Error).message}`,
      );
    }
    this.#held = lock;
  }

  release(): void {
    this.#held.exec('ROLLBACK');
    this.#held.close();
  }
}

/**
 * Syncs the folders that got an entry, `made` the outermost of them, so that a power cut cannot
 * take the data folder away.
 */
function keepMade(path: string, made: string | undefined): void {
  if (made === undefined) return;
  const top = dirname(resolve(made));
  for (let above = dirname(resolve(path)); ; above = dirname(above)) {
    try {
      syncFolder(above);
    } catch (error) {
      // A folder that may be written and not read cannot be synced; the platform runs there as it
      // can.
      if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    }
    if (above === top || above === dirname(above)) return;
  }
}

/** Makes creations in the folder durable. */
export function syncFolder(directory: string): void {
  const folder = openSync(directory, 'r');
  try {
    fsyncSync(folder);
  } catch (error) {
    // Windows cannot sync a folder; its file system journals names by itself.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  } finally {
    closeSync(folder);
  }
}

/**
 * Only what a second process is told depends on the note, so a full disk does not keep the folder
 * from being claimed.
 */
function noteHolder(path: string): void {
  try {
    writeFileSync(path, `process ${process.pid}`);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/**
 * Takes the rights of group and others from the folder; nothing inside can be reached without them.
 * Returns what was changed or could not be, as a sentence; undefined when there was nothing to do.
 */
export function tightenDataFolder(path: string): string | undefined {
  const mode = statSync(path).mode & 0o777;
  // Windows has no such rights.
  if ((mode & ~ownerOnly) === 0 || process.platform === 'win32') return undefined;
  const was = `The data folder ${path} was accessible to other users (mode ${mode.toString(8)})`;
  try {
    chmodSync(path, ownerOnly);
    return `${was}; permissions were restricted to its owner`;
  } catch (error) {
    return `${was}, and its permissions cannot be changed: ${(error as Error).message}`;
  }
}

/** Whether the folder holds samples or raw uplinks. */
export function hasSampleFiles(path: string): boolean {
  const places = [
    ['samples', 'journal', '.journal'],
    ['samples', 'segments', '.segment'],
    ['uplinks', '', '.uplinks'],
  ] as const;
  return (
    places.some(([folder, inside, end]) =>
      namesIn(join(path, folder, inside)).some((name) => name.endsWith(end)),
    ) || isManifestOfSamples(join(path, 'samples', 'segments', 'manifest.json'))
  );
}

/** Whether there is a manifest other than the one of a new folder, which names no segment. */
function isManifestOfSamples(path: string): boolean {
  try {
    return !readFileSync(path, 'utf8').includes('"segments":[],"replayFrom":0,');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function holderOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return 'process unknown';
  }
}

// Node id: the identity of a data folder among the nodes of a cluster, created once and kept.

const fileName = 'node-id';

/** Undefined for a folder that never was that of a node. Throws DataFolderError as `nodeIdOf`. */
export async function storedNodeId(directory: string): Promise<string | undefined> {
  const path = join(directory, fileName);
  const stored = await readChecked(path);
  if (stored === 'damaged')
    throw new DataFolderError(
      `The file ${path} is corrupted. Restore it from a backup of this data folder.`,
    );
  return stored?.text;
}

/** Throws DataFolderError for a damaged file: with another id, the node would own nothing it wrote. */
export async function nodeIdOf(directory: string): Promise<string> {
  const stored = await storedNodeId(directory);
  if (stored !== undefined) return stored;
  const id = randomUUID();
  await replaceChecked(join(directory, fileName), id);
  return id;
}

// Adopted copy: a data folder that was a copy at another node, and continues as that of the node.

const adoptedFileName = 'adopted';

/** The copy that the folder was; undefined for a folder that never was one. */
export async function adoptedAs(directory: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, adoptedFileName), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function markAdopted(directory: string, copy: string): Promise<void> {
  return replaceFile(join(directory, adoptedFileName), copy);
}
