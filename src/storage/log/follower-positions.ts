// How far each follower of the journal has come, kept in a small file that is replaced as a whole.
// Losing the newest positions repeats entries to followers, which they bear; so they are written
// now and then, not at every step.
import { join } from 'node:path';
import { type EpochMs, isWithin } from '../../model/instant.ts';
import { readChecked, replaceChecked } from './durable-file.ts';

const saveEveryMs = 1_000;

export class FollowerPositions {
  readonly #path: string;
  readonly #now: () => EpochMs;
  readonly #positions: Map<string, number>;
  #changed = false;
  #savedAt = Number.NEGATIVE_INFINITY;
  #saving: Promise<unknown> | undefined;
  /**
   * The file was damaged or is missing although there were followers: all positions were discarded,
   * and `fallback` stands for them.
   */
  readonly found: 'sound' | 'damaged' | 'missing';
  readonly fallback: number;

  private constructor(
    path: string,
    now: () => EpochMs,
    saved: Readonly<Record<string, number>>,
    found: FollowerPositions['found'],
    fallback: number,
  ) {
    this.#path = path;
    this.#now = now;
    this.#positions = new Map(Object.entries(saved));
    this.found = found;
    this.fallback = fallback;
  }

  /**
   * Reads the file of the folder. Without one nobody has followed anything yet, unless `fallback` is
   * given: a position above 0 that is known from elsewhere, from which followers go on when the file
   * is missing or damaged.
   */
  static async open(
    directory: string,
    now: () => EpochMs,
    fallback = 0,
  ): Promise<FollowerPositions> {
    const path = join(directory, 'followers.json');
    const read = await readChecked(path);
    if (read === 'damaged') return new FollowerPositions(path, now, {}, 'damaged', fallback);
    const isMissing = read === undefined && fallback > 0;
    const saved = read === undefined ? {} : (JSON.parse(read.text) as Record<string, number>);
    return new FollowerPositions(path, now, saved, isMissing ? 'missing' : 'sound', fallback);
  }

  /** The largest position; 0 without followers. */
  newest(): number {
    return Math.max(...this.#positions.values(), 0);
  }

  get(follower: string): number | undefined {
    const position = this.#positions.get(follower);
    if (position !== undefined || this.found === 'sound' || this.fallback === 0) return position;
    return this.fallback;
  }

  set(follower: string, position: number): void {
    this.#changed ||= this.#positions.get(follower) !== position;
    this.#positions.set(follower, position);
  }

  remove(follower: string): void {
    this.#changed ||= this.#positions.delete(follower);
  }

  /** The position that the slowest follower comes to next; infinite without followers. */
  slowest(): number {
    return Math.min(...this.#positions.values(), Number.POSITIVE_INFINITY);
  }

  /** Writes the file when positions changed, at most once a second unless forced. */
  async save(force = false): Promise<void> {
    // A forced save waits for what others began meanwhile as well.
    while (this.#saving !== undefined) await this.#saving;
    const now = this.#now();
    if (!this.#changed || (!force && isWithin(saveEveryMs, this.#savedAt, now))) return;
    this.#changed = false;
    this.#savedAt = now;
    this.#saving = replaceChecked(this.#path, JSON.stringify(Object.fromEntries(this.#positions)));
    try {
      await this.#saving;
    } catch (error) {
      this.#changed = true;
      throw error;
    } finally {
      this.#saving = undefined;
    }
  }
}
