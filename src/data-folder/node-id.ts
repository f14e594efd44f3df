// Node id: identifies a data folder where several nodes share the records. It never changes.
import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DataFolderError, syncFolder } from './data-folder.ts';

const fileName = 'node-id';
const form = /^[0-9a-f-]{36}$/;

/** Undefined for a folder that was never that of a node. Throws for a damaged file. */
export function keptNodeId(directory: string): string | undefined {
  const path = join(directory, fileName);
  let kept: string;
  try {
    kept = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  if (!form.test(kept))
    throw new DataFolderError(
      `${path} does not hold the id of a node: put it back from the backup`,
    );
  return kept;
}

/** The id of the folder, made by the first call; it is on disk then. */
export function nodeId(directory: string): string {
  const kept = keptNodeId(directory);
  if (kept !== undefined) return kept;
  const made = randomUUID();
  const path = join(directory, fileName);
  writeFileSync(`${path}.new`, `${made}\n`, { flush: true });
  renameSync(`${path}.new`, path);
  syncFolder(directory);
  return made;
}
