// Items of the palette: what is offered for the typed words, group by group.
import type { LucideIcon } from 'lucide-react';

export interface PaletteItem {
  readonly id: string;
  readonly label: string;
  /** Shown at the end of the row, such as the id that matched. */
  readonly note?: string | undefined;
  readonly icon: LucideIcon;
  readonly isCurrent?: boolean;
  readonly run: () => void;
}

export interface PaletteGroup {
  readonly name: string;
  readonly items: readonly PaletteItem[];
}

/** Whether every word begins a word of the label. */
function isNamed(label: string, words: string): boolean {
  const parts = label.toLowerCase().split(/[\s:.,–-]+/);
  return words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .every((word) => parts.some((part) => part.startsWith(word)));
}

export function matching(group: PaletteGroup, words: string): PaletteGroup {
  return { ...group, items: group.items.filter(({ label }) => isNamed(label, words)) };
}

export function withItems(groups: readonly PaletteGroup[]): readonly PaletteGroup[] {
  return groups.filter(({ items }) => items.length > 0);
}
