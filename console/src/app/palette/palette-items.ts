// Items of the palette: what is offered for the typed words, group by group.
import type { LucideIcon } from 'lucide-react';

export interface PaletteItem {
  readonly id: string;
  readonly label: string;
  /** Shown at the end of the row, such as the id that matched. */
  readonly note?: string | undefined;
  /** Other words that find the item, such as `new` for one that creates a record. */
  readonly alsoFoundBy?: string | undefined;
  readonly icon: LucideIcon;
  readonly isCurrent?: boolean;
  readonly run: () => void;
}

export interface PaletteGroup {
  readonly name: string;
  readonly items: readonly PaletteItem[];
}

/** Whether every word begins a word of the label, or one that finds the item too. */
function isNamed({ label, alsoFoundBy = '' }: PaletteItem, words: string): boolean {
  const parts = `${label} ${alsoFoundBy}`.toLowerCase().split(/[\s:.,–-]+/);
  return words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .every((word) => parts.some((part) => part.startsWith(word)));
}

export function matching(group: PaletteGroup, words: string): PaletteGroup {
  return { ...group, items: group.items.filter((item) => isNamed(item, words)) };
}

export function withItems(groups: readonly PaletteGroup[]): readonly PaletteGroup[] {
  return groups.filter(({ items }) => items.length > 0);
}
