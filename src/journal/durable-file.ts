// Small files that are replaced as a whole: written beside, synced, renamed, and the folder synced, so that a crash leaves old or new.
import { open, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';

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

/** Replaces the file by the text with its checksum in front. */
export async function replaceChecked(path: string, text: string): Promise<void> {
  await replaceFile(path, `${checksum(text)} ${text}\n`);
}

/** The text that `replaceChecked` wrote; undefined without the file, `damaged` when it is not what was written. */
export async function readChecked(path: string): Promise<{ text: string } | 'damaged' | undefined> {
  let contents: string;
  try {
    contents = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const [, sum, text] = /^([0-9a-f]{8}) (.*)\n$/s.exec(contents) ?? [];
  return text === undefined || checksum(text) !== sum ? 'damaged' : { text };
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
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
