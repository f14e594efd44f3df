// Node id: the identity of a data folder among the nodes of a cluster, created once and kept.
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readChecked, replaceChecked, replaceFile } from '../log/durable-file.ts';
import { DataFolderError } from './data-folder.ts';

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
