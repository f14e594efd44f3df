// Disk reserve: a file whose space lets the operator sign in and delete on a full disk.
import { statfsSync, statSync, unlinkSync } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull } from '../../model/errors.ts';

const blockBytes = 1024 * 1024;

export const reserveLimits = {
  /** A session takes some kilobytes in the records, the deletion of many devices some megabytes. */
  bytes: 8 * 1024 * 1024,
  /** With less than this free the disk counts as full. */
  freeBytesMin: 1024 * 1024,
} as const;

/**
 * Opens the reserve of the folder. On a full disk it is spent immediately, because opening the
 * records needs room.
 */
export class DiskReserve {
  readonly #directory: string;
  readonly #path: string;
  #isSpent = false;
  #isWhole: boolean;

  constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, 'reserve');
    this.#isWhole = sizeOf(this.#path) === reserveLimits.bytes;
    const { bavail, bsize } = statfsSync(directory);
    if (bavail * bsize < reserveLimits.freeBytesMin) this.spend();
  }

  /** Whether its room was given to the records, so that nothing else may be written. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Gives the room to the records. */
  spend(): void {
    this.#isSpent = true;
    this.#isWhole = false;
    if (sizeOf(this.#path) > 0) unlinkSync(this.#path);
  }

  /** Resolves to the bytes free on the disk; a full disk spends the reserve. */
  async look(): Promise<number> {
    const bytes = await this.#free();
    if (bytes < reserveLimits.freeBytesMin && !this.#isSpent) this.spend();
    return bytes;
  }

  /**
   * Takes the room back when that leaves as much again free. Resolves to whether the reserve is
   * whole.
   */
  async restore(): Promise<boolean> {
    if (this.#isWhole) return true;
    if ((await this.#free()) < 2 * reserveLimits.bytes) return false;
    this.#isWhole = await fill(this.#path, reserveLimits.bytes);
    if (this.#isWhole) this.#isSpent = false;
    return this.#isWhole;
  }

  /** For a stop: takes back what there is, because the next start needs room too. */
  async keepRest(): Promise<void> {
    const bytes = Math.min(
      reserveLimits.bytes,
      (await this.#free()) - reserveLimits.freeBytesMin / 4,
    );
    if (!this.#isWhole && bytes > 0) await fill(this.#path, bytes);
  }

  async #free(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#directory);
    return bavail * bsize;
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * Writes the bytes, because room that is not written is not taken; a disk that is too full for them
 * leaves nothing behind.
 */
async function fill(path: string, bytes: number): Promise<boolean> {
  const file = await open(path, 'w', 0o600);
  try {
    const block = new Uint8Array(blockBytes);
    for (let left = bytes; left > 0; left -= blockBytes)
      await file.write(block, 0, Math.min(left, blockBytes));
    await file.datasync();
    return true;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    unlinkSync(path);
    return false;
  } finally {
    await file.close();
  }
}
