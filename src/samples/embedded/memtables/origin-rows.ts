// Origin rows: the origins of the rows of a memtable, and how many rows each has.
import type { Origin } from '../rows/origin.ts';

/** A class, because one call per row goes through it. */
export class OriginRows {
  readonly origins: Origin[] = [];
  /** Of each origin, by its place in `origins`. */
  readonly counts: number[] = [];
  readonly #ids = new Map<Origin, number>();
  #last: Origin | undefined;
  #lastId = 0;

  /** Counts a row of the origin; returns the place of the origin. */
  add(origin: Origin): number {
    // Consecutive rows usually have the same origin.
    if (origin !== this.#last) {
      this.#lastId = this.#idOf(origin);
      this.#last = origin;
    }
    this.counts[this.#lastId]!++;
    return this.#lastId;
  }

  #idOf(origin: Origin): number {
    let id = this.#ids.get(origin);
    if (id === undefined) {
      id = this.origins.push(origin) - 1;
      this.counts.push(0);
      this.#ids.set(origin, id);
    }
    return id;
  }
}
