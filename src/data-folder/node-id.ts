// Node id: the identity of a data folder among the nodes of a cluster, created once and kept.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { readChecked, replaceChecked } from '../log/durable-file.ts';
import { DataFolderError } from './data-folder.ts';

/** Throws DataFolderError for a damaged file: with another id, the node would own nothing it wrote. */
export async function nodeIdOf(directory: string): Promise<string> {
  const path = join(directory, 'node-id');
  const stored = await readChecked(path);
  if (stored === 'damaged')
    throw new DataFolderError(
      `The file ${path} is damaged: restore it from a backup of this data folder`,
    );
  if (stored !== undefined) return stored.text;
  const id = randomUUID();
  await replaceChecked(path, id);
  return id;
}
