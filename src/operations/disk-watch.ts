// Disk watch: checks the free space every two seconds and stops the intake on a full disk.
import { open, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { statfsSync, statSync, unlinkSync } from 'node:fs';
import { DataFolderError } from '../storage/data-folder/data-folder.ts';
import { createSerialQueue } from '../structures/work-queues.ts';
import type { SetTimer } from '../structures/timers.ts';
import type { Telemetry, WritingState } from '../telemetry/events.ts';
import { isDiskFull } from '../model/problem.ts';

const lookEveryMs = 2_000;
const looksPerCount = 15;

export class DiskWatch {
  readonly #directory: string;
  readonly #events: Telemetry;
  readonly #reserve: DiskReserve;
  readonly #looks = createSerialQueue();
  #free = Number.NaN;
  #bytes = Number.NaN;
  #count = 0;
  readonly #stop: () => void;
  readonly #look = async (): Promise<void> => {
    this.#events.descriptorsProbed(await isOutOfDescriptors(this.#directory));
    this.#free = await this.#reserve.look();
    if (this.#count++ % looksPerCount === 0) this.#bytes = await bytesIn(this.#directory);
    reportFull(this.#reserve, this.#events);
    if ((await this.#reserve.restore()) && !this.#reserve.isSpent)
      this.#events.writingChanged({ kind: 'writing' });
  };
  readonly #lookNow = (): void => {
    this.#looks
      .run(this.#look)
      .catch((error: unknown) => this.#events.backgroundFailed('looking at the disk', error));
  };
  /** Whether samples must be rejected, because only the records may use the space that is left. */
  readonly isFull = (): boolean => this.#reserve.isSpent;
  /** Bytes free on the disk; NaN before the first look. */
  readonly freeBytes = (): number => this.#free;
  /** Bytes of the files in the folder, counted twice a minute; NaN before the first count. */
  readonly folderBytes = (): number => this.#bytes;
  /** Call for every change of state that the journal reports. */
  readonly writingChanged = (state: WritingState): void => {
    // The journal could not write: space that becomes free belongs to the records until there is
    // plenty.
    if (state.kind === 'full') this.#reserve.spend();
    if (state.kind !== 'writing' || !this.#reserve.isSpent) this.#events.writingChanged(state);
  };
  /**
   * Throws a DataFolderError with the remedy when a part could not be opened because the disk is
   * full, else the error.
   */
  readonly explain = (error: unknown): never => {
    if (this.#reserve.isSpent) throw recordsWithoutRoom(this.#directory, error);
    throw error;
  };
  readonly close = async (): Promise<void> => {
    this.#stop();
    await this.#looks.idle();
  };
  /** Call after every other part is closed. */
  readonly keepRest = (): Promise<void> => this.#reserve.keepRest();

  /** Opens the reserve of the folder and starts looking. */
  constructor(directory: string, events: Telemetry, setRepeatingTimer: SetTimer) {
    this.#directory = directory;
    this.#events = events;
    this.#reserve = new DiskReserve(directory);
    reportFull(this.#reserve, events);
    this.#lookNow();
    this.#stop = setRepeatingTimer(this.#lookNow, lookEveryMs);
  }
}

function recordsWithoutRoom(directory: string, cause: unknown): DataFolderError {
  const room = `${(2 * reserveLimits.bytes) / 1024 ** 2} MiB`;
  return new DataFolderError(
    `The disk of data folder ${directory} is full and the record database cannot be opened. Free up ${room}, then start again.`,
    { cause },
  );
}

function reportFull({ isSpent }: DiskReserve, events: Telemetry): void {
  if (isSpent)
    events.writingChanged({
      kind: 'full',
      error: new Error('disk space is below the reserve for records'),
    });
}

/**
 * Linux closes connections without an error when no descriptor is left for them, so the server
 * cannot report it.
 */
async function isOutOfDescriptors(directory: string): Promise<boolean> {
  try {
    await (await open(directory, 'r')).close();
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EMFILE' || code === 'ENFILE';
  }
}

/**
 * Sums the files of the folder and its subfolders. A file that is removed meanwhile counts as
 * empty.
 */
async function bytesIn(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    bytes += await stat(join(entry.parentPath, entry.name)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  return bytes;
}

// Disk reserve: a file whose space lets the operator sign in and delete on a full disk.

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
class DiskReserve {
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
