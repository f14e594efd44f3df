// The three disk operations whose failure the journal must survive, and what it cuts off after one.
import { fdatasync, ftruncate, write } from 'node:fs';

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
