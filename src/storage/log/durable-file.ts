// Durable files: replaced by a synced temporary file and a rename, so that a crash leaves old or new.
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
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

/** Replaces the file by the string with its checksum in front. Resolves with what it has then. */
export async function replaceChecked(path: string, text: string): Promise<string> {
  const contents = `${checksum(text)} ${text}\n`;
  await replaceFile(path, contents);
  return contents;
}

/**
 * The string that `replaceChecked` wrote; undefined without the file, `damaged` when it is not what
 * was written.
 */
export async function readChecked(path: string): Promise<{ text: string } | 'damaged' | undefined> {
  let contents: string;
  try {
    contents = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const text = contents.slice(checksumChars + 1, -1);
  return contents.endsWith('\n') && isChecked(contents.slice(0, -1)) ? { text } : 'damaged';
}

const checksumChars = 8;

/** Whether the line is a string with its checksum in front. */
export function isChecked(line: string): boolean {
  const [, sum, text] = /^([0-9a-f]{8}) (.*)$/s.exec(line) ?? [];
  return text !== undefined && checksum(text) === sum;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/**
 * Makes the folder and those above it that are missing; when the promise resolves, a power cut
 * cannot take them away. The folder above is synced although nothing was made: an earlier start may
 * have been cut off between the two.
 */
export async function makeFolder(
  path: string,
  sync: (directory: string) => Promise<void> = syncDirectory,
): Promise<void> {
  const folder = resolve(path);
  const first = await mkdir(folder, { recursive: true });
  const top = dirname(first ?? folder);
  for (let above = dirname(folder); ; above = dirname(above)) {
    await sync(above);
    if (above === top || above === dirname(above)) return;
  }
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
