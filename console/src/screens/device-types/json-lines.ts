// JSON lines: a value as indented lines, and which of them differ from another value's.

export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/** Cells of the table of common lines; above it the middle is replaced as a whole. */
const cellsMax = 250_000;

export function linesOf(value: unknown): string[] {
  return (JSON.stringify(value, null, 2) ?? 'undefined').split('\n');
}

/** Lines of both, in order: those of `before` that are gone, those of `after` that are new. */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const endMax = Math.min(before.length, after.length) - start;
  while (end < endMax && before.at(-1 - end) === after.at(-1 - end)) end++;
  return [
    ...marked('same', after.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...marked('same', after.slice(after.length - end)),
  ];
}

function marked(kind: DiffLine['kind'], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ kind, text }));
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length * after.length > cellsMax)
    return [...marked('gone', before), ...marked('new', after)];
  const common = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let [left, right] = [0, 0];
  while (left < before.length && right < after.length) {
    const [gone = '', fresh = ''] = [before[left], after[right]];
    if (gone === fresh) {
      lines.push({ kind: 'same', text: fresh });
      left++;
      right++;
    } else if (at(common, left + 1, right) >= at(common, left, right + 1)) {
      lines.push({ kind: 'gone', text: gone });
      left++;
    } else {
      lines.push({ kind: 'new', text: fresh });
      right++;
    }
  }
  return [...lines, ...marked('gone', before.slice(left)), ...marked('new', after.slice(right))];
}

/** Length of the longest common order of lines from each pair of places on. */
function commonLengths(before: readonly string[], after: readonly string[]): number[][] {
  const table = Array.from({ length: before.length + 1 }, () =>
    Array.from({ length: after.length + 1 }, () => 0),
  );
  for (let left = before.length - 1; left >= 0; left--) {
    const row = table[left] ?? [];
    for (let right = after.length - 1; right >= 0; right--)
      row[right] =
        before[left] === after[right]
          ? at(table, left + 1, right + 1) + 1
          : Math.max(at(table, left + 1, right), at(table, left, right + 1));
  }
  return table;
}

function at(table: readonly (readonly number[])[], left: number, right: number): number {
  return table[left]?.[right] ?? 0;
}

/** JSON with sorted members, so that two values with the same content are equal strings. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  );
}
