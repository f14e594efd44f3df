// Similar names: whether one name is another one with a slip, such as a space behind it.

/** Names that look the same to people, and a little like it to machines. */
function plain(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_.:-]+/gu, '');
}

/** Longer names are compared only by their beginning. */
const comparedMax = 100;

/**
 * How far apart two different names are: 0 when only case, spaces and separators differ, else the
 * number of slips (a character too much, missing, wrong, or two exchanged); undefined when they are
 * not similar.
 */
export function slipsBetween(one: string, other: string): number | undefined {
  const [a, b] = [plain(one).slice(0, comparedMax), plain(other).slice(0, comparedMax)];
  if (a === b) return a === '' ? undefined : 0;
  const slipsMax = Math.min(2, Math.floor(Math.min(a.length, b.length) / 4));
  if (Math.abs(a.length - b.length) > slipsMax) return undefined;
  const slips = distanceOf(a, b);
  return slips > slipsMax ? undefined : slips;
}

/** Optimal string alignment: edits, with the exchange of two neighbours as one. */
function distanceOf(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const wrong = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, wrong);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (beforeLast[j - 2] ?? 0) + 1);
      row.push(least);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
