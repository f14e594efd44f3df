// MQTT deadlines: a timer wheel, so that thousands of connections need one timer.

/** What has a deadline; the wheel writes the member. */
export interface Dated {
  /** Second of the wheel in which it is visited; undefined when it is not in the wheel. */
  deadline: number | undefined;
}

/**
 * `visit` returns the second of the next visit; undefined for none. An item whose deadline moves
 * into the future with each packet stays where it is, and `visit` returns its new deadline.
 */
export class Deadlines<T extends Dated> {
  readonly #visit: (item: T, now: number) => number | undefined;
  readonly #slots = new Map<number, Set<T>>();
  #now = 0;

  constructor(visit: (item: T, now: number) => number | undefined) {
    this.#visit = visit;
  }

  /** Call once per second. */
  readonly tick = (): void => {
    this.#now++;
    for (const item of this.#slots.get(this.#now) ?? []) {
      this.remove(item);
      const next = this.#visit(item, this.#now);
      if (next !== undefined) this.place(item, next);
    }
  };

  /** Seconds since the start. They are counted, so changes of the clock do not matter. */
  get now(): number {
    return this.#now;
  }

  /** Visits the item in this second; the next one at the earliest. */
  place(item: T, second: number): void {
    this.remove(item);
    item.deadline = Math.max(second, this.#now + 1);
    const slot = this.#slots.get(item.deadline);
    if (slot === undefined) this.#slots.set(item.deadline, new Set([item]));
    else slot.add(item);
  }

  remove(item: T): void {
    if (item.deadline === undefined) return;
    const slot = this.#slots.get(item.deadline);
    slot?.delete(item);
    if (slot?.size === 0) this.#slots.delete(item.deadline);
    item.deadline = undefined;
  }
}
