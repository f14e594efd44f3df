// Samples move: the state of a move of samples that is not finished, in a folder next to them.
import { existsSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ClickHouseError } from '../storage/clickhouse/replica.ts';
import type { ClickHouse } from '../storage/clickhouse/clickhouse.ts';
import { DataFolderError } from '../storage/data-folder/data-folder.ts';
import { isDiskFull } from '../model/problem.ts';
import {
  makeFolder,
  readChecked,
  replaceChecked,
  syncDirectory,
} from '../storage/log/durable-file.ts';
import type { EpochMs } from '../model/instant.ts';

export type SamplesEngineName = 'clickhouse' | 'embedded';

export interface SamplesMove {
  readonly to: SamplesEngineName;
  readonly startedAt: EpochMs;
  /** Behind the newest entry of the journal, which takes none during the move. */
  readonly position: number;
  /** Number of the folder's journal in ClickHouse. */
  readonly journal: number;
  /** Entries before this position may have been written. */
  readonly writtenTo: number;
  /** Everything is there and compared; only files are left to be renamed. */
  readonly isCompared: boolean;
}

export interface MoveProgress {
  readonly samples: number;
  readonly total: number;
}

export interface MovedParts {
  readonly dataDirectory: string;
  readonly clickHouse: ClickHouse;
  readonly movesUplinks: boolean;
  readonly now: () => EpochMs;
  readonly progress: (progress: MoveProgress) => void;
}

export interface MovedCounts {
  readonly samples: number;
  readonly uplinks: number;
  /** Partitions of devices, and `raw uplinks`, that are not the same on both sides. */
  readonly differing: readonly string[];
  /** What could not be read, and is in neither afterwards. */
  readonly unreadable: readonly string[];
}

/** The folder of an unfinished move, in the folder of the samples. */
export const moveFolder = 'move';
const stateFile = 'move.json';

export interface MoveFile {
  readonly move: SamplesMove;
  update(changes: Partial<SamplesMove>): Promise<void>;
}

/** Undefined without an unfinished move. */
export async function readMove(samples: string): Promise<SamplesMove | undefined> {
  const path = join(samples, moveFolder, stateFile);
  const found = await readChecked(path);
  if (found === 'damaged')
    throw new DataFolderError(
      `${path} is corrupted. Delete the folder ${join(samples, moveFolder)}, empty the target, and start over.`,
    );
  return found && (JSON.parse(found.text) as SamplesMove);
}

export async function openMove(samples: string, move: SamplesMove): Promise<MoveFile> {
  const folder = join(samples, moveFolder);
  await makeFolder(folder);
  let current = move;
  const save = () => replaceChecked(join(folder, stateFile), JSON.stringify(current));
  await save();
  return {
    get move() {
      return current;
    },
    async update(changes) {
      current = { ...current, ...changes };
      await save();
    },
  };
}

/** Throws DataFolderError while a move is not finished. */
export function refuseUnfinishedMove(samples: string): void {
  if (!existsSync(join(samples, moveFolder, stateFile))) return;
  throw new DataFolderError(
    `A migration of the samples in ${samples} is incomplete. Run "heliograph migrate samples" again.`,
  );
}

/** Renames what exists; a move that was interrupted here does it once. */
export async function setAside(directory: string, name: string, as: string): Promise<void> {
  if (!existsSync(join(directory, name))) return;
  await rename(join(directory, name), join(directory, as));
  await syncDirectory(directory);
}

/** The last step of a move. */
export async function endMove(samples: string): Promise<void> {
  const folder = join(samples, moveFolder);
  // While the state is there, the move is not finished.
  for (const name of await readdir(folder))
    if (name !== stateFile) await rm(join(folder, name), { recursive: true });
  await rm(folder, { recursive: true });
  await syncDirectory(samples);
}

/** Errors of disk and servers as sentences that say how to continue; others as they are. */
export function moveError(error: unknown): unknown {
  const goOn = 'run the command again to resume';
  if (isDiskFull(error))
    return new DataFolderError(`The disk is full. Free up space, then ${goOn}.`, { cause: error });
  if (error instanceof ClickHouseError)
    return new DataFolderError(`ClickHouse failed (${error.message}). ${goOn}`, {
      cause: error,
    });
  return error;
}
