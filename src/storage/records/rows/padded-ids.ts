// Padded ids: lists of ids in few lengths, so that few statements stay compiled.

const counts = [1, 8, 64, 256] as const;

/** At most this many ids are in one statement. */
export const idsPerStatement = 256;

/** Repeats the last id up to the next permitted length. */
export function padded(ids: readonly string[]): string[] {
  const count = counts.find((each) => each >= ids.length) ?? ids.length;
  const last = ids.at(-1);
  if (last === undefined) return [];
  return [...ids, ...Array.from({ length: count - ids.length }, () => last)];
}
