// MQTT deadlines: a timer wheel, so that thousands of connections need one timer.

/** What has a deadline; the wheel writes the member. */
export interface Dated {
  /** Second of the wheel in which it is visited; undefined when it is not in the wheel. */
  deadline: number | undefined;
}

export interface Deadlines<T extends Dated> {
  /** Seconds since the start. They are counted, so changes of the clock do not matter. */
  readonly now: number;
  /** Visits the item in this second; the next one at the earliest. */
  place(item: T, second: number): void;
  remove(item: T): void;
  /** Call once per second. */
  tick(): void;
}

/**
 * `visit` returns the second of the next visit; undefined for none. An item whose deadline moves
 * into the future with each packet stays where it is, and `visit` returns its new deadline.
 */
export function createDeadlines<T extends Dated>(
  visit: (item: T, now: number) => number | undefined,
): Deadlines<T> {
  const slots = new Map<number, Set<T>>();
  let now = 0;

  function remove(item: T): void {
    if (item.deadline === undefined) return;
    const slot = slots.get(item.deadline);
    slot?.delete(item);
    if (slot?.size === 0) slots.delete(item.deadline);
    item.deadline = undefined;
  }

  function place(item: T, second: number): void {
    remove(item);
    item.deadline = Math.max(second, now + 1);
    const slot = slots.get(item.deadline);
    if (slot === undefined) slots.set(item.deadline, new Set([item]));
    else slot.add(item);
  }

  return {
    get now() {
      return now;
    },
    place,
    remove,
    tick() {
      now++;
      for (const item of slots.get(now) ?? []) {
        remove(item);
        const next = visit(item, now);
        if (next !== undefined) place(item, next);
      }
    },
  };
}
