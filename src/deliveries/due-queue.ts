// Things that are due at a time, the earliest first: a binary heap.

export interface DueTimes<T> {
  readonly size: number;
  /** The earliest time; undefined when nothing is due ever. */
  readonly earliest: number | undefined;
  add(at: number, item: T): void;
  /** Takes the earliest item if it is due. */
  takeDue(now: number): T | undefined;
}

export function dueTimes<T>(): DueTimes<T> {
  const heap: { readonly at: number; readonly item: T }[] = [];

  const isEarlier = (a: number, b: number) => heap[a]!.at < heap[b]!.at;
  const swap = (a: number, b: number) => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };

  function rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!isEarlier(at, parent)) return;
      swap(at, parent);
      at = parent;
    }
  }

  function sink(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const right = left + 1;
      let smallest = at;
      if (left < heap.length && isEarlier(left, smallest)) smallest = left;
      if (right < heap.length && isEarlier(right, smallest)) smallest = right;
      if (smallest === at) return;
      swap(at, smallest);
      at = smallest;
    }
  }

  return {
    get size() {
      return heap.length;
    },
    get earliest() {
      return heap[0]?.at;
    },
    add(at, item) {
      heap.push({ at, item });
      rise(heap.length - 1);
    },
    takeDue(now) {
      const first = heap[0];
      if (first === undefined || first.at > now) return undefined;
      const last = heap.pop()!;
      if (heap.length > 0) {
        heap[0] = last;
        sink();
      }
      return first.item;
    },
  };
}
