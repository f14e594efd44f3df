// Small files that are replaced as a whole: written beside, synced, renamed, and the folder synced, so that a crash leaves old or new.
import { open, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Replaces the file's contents; when the promise resolves, they are on disk. */
export async function replaceFile(path: string, contents: string | Uint8Array): Promise<void> {
  const beside = join(dirname(path), `.${basename(path)}.new`);
  const handle = await open(beside, 'w');
  try {
    await handle.writeFile(contents);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(beside, path);
  await syncDirectory(dirname(path));
}

/** Makes creations, renames and removals in the folder durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } catch (error) {
    // Windows cannot sync a folder; its file system journals names by itself.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error;
  } finally {
    await handle.close();
  }
}
