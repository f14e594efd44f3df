// Adopted copy: a data folder that was a copy at another node, and continues as that of the node.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from '../log/durable-file.ts';

const fileName = 'adopted';

/** The copy that the folder was; undefined for a folder that never was one. */
export async function adoptedAs(directory: string): Promise<string | undefined> {
  try {
    return await readFile(join(directory, fileName), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function markAdopted(directory: string, copy: string): Promise<void> {
  return replaceFile(join(directory, fileName), copy);
}
