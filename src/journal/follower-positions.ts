// How far each follower of the journal has come, kept in a small file that is replaced as a whole.
// Losing the newest positions repeats entries to followers, which they bear; so they are written now and then, not at every step.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpochMs } from '../model/instant.ts';
import { replaceFile } from './durable-file.ts';

const saveEveryMs = 1_000;

export interface FollowerPositions {
  readonly get: (follower: string) => number | undefined;
  readonly set: (follower: string, position: number) => void;
  readonly remove: (follower: string) => void;
  /** The position that the slowest follower comes to next; infinite without followers. */
  readonly slowest: () => number;
  /** Writes the file when positions changed, at most once a second unless forced. */
  readonly save: (force?: boolean) => Promise<void>;
}

/** Reads the file of the folder; without one, or when it is damaged, nobody has followed anything yet. */
export async function openFollowerPositions(directory: string, now: () => EpochMs): Promise<FollowerPositions> {
  const path = join(directory, 'followers.json');
  const positions = new Map<string, number>(await readPositions(path));
  let changed = false;
  let savedAt = Number.NEGATIVE_INFINITY;
  let saving: Promise<void> | undefined;
  return {
    get: (follower) => positions.get(follower),
    set: (follower, position) => {
      changed ||= positions.get(follower) !== position;
      positions.set(follower, position);
    },
    remove: (follower) => {
      changed ||= positions.delete(follower);
    },
    slowest: () => Math.min(...positions.values(), Number.POSITIVE_INFINITY),
    save: async (force = false) => {
      if (saving !== undefined) await saving;
      if (!changed || (!force && now() - savedAt < saveEveryMs)) return;
      changed = false;
      savedAt = now();
      saving = replaceFile(path, JSON.stringify(Object.fromEntries(positions)));
      try {
        await saving;
      } catch (error) {
        changed = true;
        throw error;
      } finally {
        saving = undefined;
      }
    },
  };
}

async function readPositions(path: string): Promise<[string, number][]> {
  try {
    const parsed = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
    return Object.entries(parsed).filter((row): row is [string, number] => Number.isSafeInteger(row[1]));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return [];
    throw error;
  }
}
