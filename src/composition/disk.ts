// Composes the watch on the disk: its room, the reserve of the records, and what is refused while it is full.
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DataFolderError } from '../data-folder/data-folder.ts';
import { type DiskReserve, openDiskReserve, reserveLimits } from '../data-folder/disk-reserve.ts';
import type { Telemetry } from '../telemetry/events.ts';
import type { WritingState } from '../telemetry/storage-events.ts';

const lookEveryMs = 2_000;
const looksPerCount = 15;

export interface DiskWatch {
  /** Whether samples are to be refused because what room there is belongs to the records. */
  readonly isFull: () => boolean;
  /** Call for every change that the journal tells. */
  readonly writingChanged: (state: WritingState) => void;
  /** Throws a DataFolderError with the remedy when the part could not be opened for lack of room, else the error. */
  readonly explain: (error: unknown) => never;
  readonly close: () => Promise<void>;
  /** Call after everything else is closed. */
  readonly keepRest: () => Promise<void>;
}

/** Opens the reserve and looks at the disk every two seconds from now on. */
export function composeDisk(directory: string, telemetry: Telemetry): DiskWatch {
  const reserve = openDiskReserve(directory);
  let free = Number.NaN;
  let bytes = Number.NaN;
  let looks = 0;
  telemetry.gauge('disk_free_bytes', 'Bytes free on the disk of the data folder.', () => free);
  telemetry.gauge('data_folder_bytes', 'Bytes of the files in the data folder.', () => bytes);

  async function look(): Promise<void> {
    telemetry.descriptorsProbed(await isOutOfDescriptors(directory));
    free = await reserve.look();
    if (looks++ % looksPerCount === 0) bytes = await bytesIn(directory);
    tellFull(reserve, telemetry);
    if ((await reserve.restore()) && !reserve.isSpent)
      telemetry.writingChanged({ kind: 'writing' });
  }

  let looking: Promise<void> = Promise.resolve();
  const lookNow = (): void => {
    looking = looking
      .then(look)
      .catch((error: unknown) => telemetry.backgroundFailed('looking at the disk', error));
  };
  tellFull(reserve, telemetry);
  lookNow();
  const timer = setInterval(lookNow, lookEveryMs);
  timer.unref();
  return {
    isFull: () => reserve.isSpent,
    writingChanged(state) {
      // The journal was refused; whatever is freed from now on belongs to the records until there is plenty.
      if (state.kind === 'full') reserve.spend();
      if (state.kind !== 'writing' || !reserve.isSpent) telemetry.writingChanged(state);
    },
    explain(error) {
      if (!reserve.isSpent) throw error;
      const room = `${(2 * reserveLimits.bytes) / 1024 ** 2} MiB`;
      throw new DataFolderError(
        `The disk of the data folder ${directory} is full, and the records cannot be opened: make ${room} of room and start again`,
        { cause: error },
      );
    },
    async close() {
      clearInterval(timer);
      await looking;
    },
    keepRest: () => reserve.keepRest(),
  };
}

function tellFull({ isSpent }: DiskReserve, telemetry: Telemetry): void {
  if (isSpent)
    telemetry.writingChanged({ kind: 'full', error: new Error('less room than the records need') });
}

/** Linux ends connections without a word when no descriptor is left for them, so the server cannot tell. */
async function isOutOfDescriptors(directory: string): Promise<boolean> {
  try {
    await (await open(directory, 'r')).close();
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EMFILE' || code === 'ENFILE';
  }
}

/** Sums the files of the folder and its subfolders; one that is removed meanwhile counts nothing. */
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
