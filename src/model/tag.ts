// Tag: a named group of devices of one workspace (contract 6).
import type { AuditFields } from './record.ts';

export interface Tag extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly name: string;
  readonly description: string | null;
  /** `#RRGGBB` */
  readonly color: string | null;
}

// Tag combinations: `AND:<id>,<id>` for devices with all of the tags, `OR:<id>,<id>` for those with any (contract 13).

interface TagCombination {
  readonly joined: 'AND' | 'OR';
  readonly tagIds: readonly string[];
}

export const tagCombinationMax = 20;

/** Undefined when the combination is invalid, has no tag or more than `tagCombinationMax`. */
export function parseTagCombination(text: string): TagCombination | undefined {
  const match = /^\s*(AND|OR)\s*:(.*)$/is.exec(text);
  if (match === null) return undefined;
  const [, joined = '', ids = ''] = match;
  const tagIds = [...new Set(ids.split(',').map((id) => id.trim()))];
  if (tagIds.includes('') || tagIds.length > tagCombinationMax) return undefined;
  return { joined: joined.toUpperCase() === 'AND' ? 'AND' : 'OR', tagIds };
}

export function combinationHolds(
  { joined, tagIds }: TagCombination,
  tags: ReadonlySet<string>,
): boolean {
  if (joined === 'AND') return tagIds.every((id) => tags.has(id));
  return tagIds.some((id) => tags.has(id));
}
