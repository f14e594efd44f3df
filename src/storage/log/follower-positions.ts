// How far each follower of the journal has come, kept in a small file that is replaced as a whole.
// Losing the newest positions repeats entries to followers, which they bear; so they are written
// now and then, not at every step.
import { join } from 'node:path';
import { type EpochMs, isWithin } from '../../model/instant.ts';
import { readChecked, replaceChecked } from './durable-file.ts';

const saveEveryMs = 1_000;

export interface FollowerPositions {
  /**
   * The file was damaged or is missing although there were followers: all positions were discarded,
   * and `fallback` stands for them.
   */
  readonly found: 'sound' | 'damaged' | 'missing';
  readonly fallback: number;
  /** The largest position; 0 without followers. */
  readonly newest: () => number;
  readonly get: (follower: string) => number | undefined;
  readonly set: (follower: string, position: number) => void;
  readonly remove: (follower: string) => void;
  /** The position that the slowest follower comes to next; infinite without followers. */
  readonly slowest: () => number;
  /** Writes the file when positions changed, at most once a second unless forced. */
  readonly save: (force?: boolean) => Promise<void>;
}

/**
 * Reads the file of the folder. Without one nobody has followed anything yet, unless `fallback` is
 * given: a position above 0 that is known from elsewhere, from which followers go on when the file
 * is missing or damaged.
 */
export async function openFollowerPositions(
  directory: string,
  now: () => EpochMs,
  fallback = 0,
): Promise<FollowerPositions> {
  const path = join(directory, 'followers.json');
  const found = await readChecked(path);
  const state =
    found === undefined
      ? fallback > 0
        ? 'missing'
        : 'sound'
      : found === 'damaged'
        ? found
        : 'sound';
  const saved =
    found === undefined || found === 'damaged'
      ? {}
      : (JSON.parse(found.text) as Record<string, number>);
  const positions = new Map<string, number>(Object.entries(saved));
  let changed = false;
  let savedAt = Number.NEGATIVE_INFINITY;
  let saving: Promise<unknown> | undefined;
  return {
    found: state,
    fallback,
    newest: () => Math.max(...positions.values(), 0),
    get: (follower) =>
      positions.get(follower) ?? (state === 'sound' || fallback === 0 ? undefined : fallback),
    set: (follower, position) => {
      changed ||= positions.get(follower) !== position;
      positions.set(follower, position);
    },
    remove: (follower) => {
      changed ||= positions.delete(follower);
    },
    slowest: () => Math.min(...positions.values(), Number.POSITIVE_INFINITY),
    save: async (force = false) => {
      // A forced save waits for what others began meanwhile as well.
      while (saving !== undefined) await saving;
      if (!changed || (!force && isWithin(saveEveryMs, savedAt, now()))) return;
      changed = false;
      savedAt = now();
      saving = replaceChecked(path, JSON.stringify(Object.fromEntries(positions)));
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
