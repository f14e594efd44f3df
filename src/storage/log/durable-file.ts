// Durable files: replaced by a synced temporary file and a rename, so that a crash leaves old or new.
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { crc32 } from 'node:zlib';
import { fdatasync, ftruncate, write } from 'node:fs';

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

// The three disk operations whose failure the journal must survive, and what it cuts off after one.

export interface Disk {
  /** Writes all bytes at the offset. */
  readonly write: (fd: number, bytes: Uint8Array, offset: number) => Promise<void>;
  readonly sync: (fd: number) => Promise<void>;
  readonly truncate: (fd: number, length: number) => Promise<void>;
  /** Called when a file is opened for writing, and when one was removed. */
  readonly opened?: (fd: number, path: string) => void;
  readonly removed?: (path: string) => void;
}

// The callback forms: a promise each for write and sync of a whole group is cheap, file handles per
// operation are not.
export const realDisk: Disk = {
  write: (fd, bytes, offset) =>
    new Promise((resolve, reject) => {
      const next = (done: number): void => {
        write(fd, bytes, done, bytes.length - done, offset + done, (error, written) => {
          if (error !== null) reject(error);
          else if (done + written < bytes.length) next(done + written);
          else resolve();
        });
      };
      next(0);
    }),
  sync: (fd) =>
    new Promise((resolve, reject) =>
      fdatasync(fd, (error) => (error === null ? resolve() : reject(error))),
    ),
  truncate: (fd, length) =>
    new Promise((resolve, reject) =>
      ftruncate(fd, length, (error) => (error === null ? resolve() : reject(error))),
    ),
};

/**
 * Whether the error means that there is no room left; everything else means that the disk cannot be
 * trusted.
 */
export function isDiskFull(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}

// Passing failures: what was written is cut off again and not acknowledged, and writing continues.

export abstract class PassingFailure extends Error {
  /** Of the appends that are lost. */
  abstract readonly problem: 'journalNotCopied' | 'deviceMoved';
}

/** No other node has what was written. */
export class NotCopied extends PassingFailure {
  override readonly name = 'NotCopied';
  readonly problem = 'journalNotCopied';

  constructor(cause: unknown) {
    super('No other node takes the copy of the journal', { cause });
  }
}

/** The leases lapsed during the write, such as while the process stood still. */
export class LeasesLapsed extends PassingFailure {
  override readonly name = 'LeasesLapsed';
  readonly problem = 'deviceMoved';

  constructor() {
    super('Other nodes may serve the devices by now');
  }
}
