// Sort in turns: a stable merge sort of long lists that yields to other work.

/** Items that are sorted or merged between two pauses. */
const itemsPerTurn = 5_000;

/** Resolves with the items in order; the array itself is not changed. */
export async function sortInTurns<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  pause: () => Promise<unknown>,
): Promise<readonly T[]> {
  let runs: T[][] = [];
  for (let from = 0; from < items.length; from += itemsPerTurn) {
    if (from > 0) await pause();
    runs.push(items.slice(from, from + itemsPerTurn).sort(compare));
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let i = 0; i < runs.length; i += 2)
      merged.push(await merge(runs[i] ?? [], runs[i + 1] ?? [], compare, pause));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge<T>(
  one: readonly T[],
  other: readonly T[],
  compare: (a: T, b: T) => number,
  pause: () => Promise<unknown>,
): Promise<T[]> {
  const merged: T[] = [];
  let [i, j] = [0, 0];
  while (i < one.length && j < other.length) {
    const [a, b] = [one[i] as T, other[j] as T];
    // Of equal items the earlier one comes first.
    if (compare(a, b) <= 0) i = merged.push(a) - j;
    else j = merged.push(b) - i;
    if (merged.length % itemsPerTurn === 0) await pause();
  }
  return merged.concat(one.slice(i), other.slice(j));
}
