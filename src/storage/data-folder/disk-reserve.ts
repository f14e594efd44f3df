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

export interface DiskReserve {
  /** Whether its room was given to the records, so that nothing else may be written. */
  readonly isSpent: boolean;
  /** Gives the room to the records. */
  readonly spend: () => void;
  /** Resolves to the bytes free on the disk; a full disk spends the reserve. */
  readonly look: () => Promise<number>;
  /**
   * Takes the room back when that leaves as much again free. Resolves to whether the reserve is
   * whole.
   */
  readonly restore: () => Promise<boolean>;
  /** For a stop: takes back what there is, because the next start needs room too. */
  readonly keepRest: () => Promise<void>;
}

/**
 * Opens the reserve of the folder. On a full disk it is spent immediately, because opening the records
 * needs room.
 */
export function openDiskReserve(directory: string): DiskReserve {
  const path = join(directory, 'reserve');
  let isSpent = false;
  let isWhole = sizeOf(path) === reserveLimits.bytes;

  function spend(): void {
    isSpent = true;
    isWhole = false;
    if (sizeOf(path) > 0) unlinkSync(path);
  }

  async function free(): Promise<number> {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  }

  const { bavail, bsize } = statfsSync(directory);
  if (bavail * bsize < reserveLimits.freeBytesMin) spend();
  return {
    get isSpent() {
      return isSpent;
    },
    spend,
    async look() {
      const bytes = await free();
      if (bytes < reserveLimits.freeBytesMin && !isSpent) spend();
      return bytes;
    },
    async restore() {
      if (isWhole) return true;
      if ((await free()) < 2 * reserveLimits.bytes) return false;
      isWhole = await fill(path, reserveLimits.bytes);
      if (isWhole) isSpent = false;
      return isWhole;
    },
    async keepRest() {
      const bytes = Math.min(reserveLimits.bytes, (await free()) - reserveLimits.freeBytesMin / 4);
      if (!isWhole && bytes > 0) await fill(path, bytes);
    },
  };
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
