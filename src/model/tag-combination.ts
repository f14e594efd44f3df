// Tag combinations: `AND:<id>,<id>` for devices with all of the tags, `OR:<id>,<id>` for those with any (contract 13).

export interface TagCombination {
  readonly joined: 'AND' | 'OR';
  readonly tagIds: readonly string[];
}

export const tagCombinationMax = 20;

/** Undefined when the text is none, names no tag or more than `tagCombinationMax`. */
export function parseTagCombination(text: string): TagCombination | undefined {
  const match = /^\s*(AND|OR)\s*:(.*)$/is.exec(text);
  if (match === null) return undefined;
  const tagIds = [...new Set(match[2]!.split(',').map((id) => id.trim()))];
  if (tagIds.includes('') || tagIds.length > tagCombinationMax) return undefined;
  return { joined: match[1]!.toUpperCase() === 'AND' ? 'AND' : 'OR', tagIds };
}

export function combinationHolds(
  { joined, tagIds }: TagCombination,
  tags: ReadonlySet<string>,
): boolean {
  if (joined === 'AND') return tagIds.every((id) => tags.has(id));
  return tagIds.some((id) => tags.has(id));
}
