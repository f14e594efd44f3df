// Due queue: items that are due at a time, the earliest first, in a binary heap.

export interface DueQueue<T> {
  /** The earliest time; undefined when the queue is empty. */
  readonly earliest: number | undefined;
  add(at: number, item: T): void;
  /**
   * Removes and yields the items that are due, the earliest first. Items can be added meanwhile.
   */
  takeDue(now: number): Generator<T>;
}

interface Entry<T> {
  readonly at: number;
  readonly item: T;
}

export function createDueQueue<T>(): DueQueue<T> {
  const heap: Entry<T>[] = [];
  return {
    get earliest() {
      return heap[0]?.at;
    },
    add(at, item) {
      heap.push({ at, item });
      rise(heap);
    },
    *takeDue(now) {
      for (let [first] = heap; first !== undefined && first.at <= now; [first] = heap) {
        removeFirst(heap);
        yield first.item;
      }
    },
  };
}

/** Moves the last entry up to its place. */
function rise<T>(heap: Entry<T>[]): void {
  for (let i = heap.length - 1; i > 0; ) {
    const parent = (i - 1) >> 1;
    if (!swapIfEarlier(heap, i, parent)) return;
    i = parent;
  }
}

function removeFirst<T>(heap: Entry<T>[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  heap[0] = last;
  for (let i = 0; ; ) {
    const child = earlierChild(heap, i);
    if (!swapIfEarlier(heap, child, i)) return;
    i = child;
  }
}

function earlierChild<T>(heap: readonly Entry<T>[], parent: number): number {
  const left = 2 * parent + 1;
  const right = left + 1;
  return timeAt(heap, right) < timeAt(heap, left) ? right : left;
}

function timeAt<T>(heap: readonly Entry<T>[], i: number): number {
  return heap[i]?.at ?? Number.POSITIVE_INFINITY;
}

/** Exchanges two entries if the one at `i` is due before the one at `above`. */
function swapIfEarlier<T>(heap: Entry<T>[], i: number, above: number): boolean {
  const [entry, other] = [heap[i], heap[above]];
  if (entry === undefined || other === undefined || entry.at >= other.at) return false;
  heap[i] = other;
  heap[above] = entry;
  return true;
}
