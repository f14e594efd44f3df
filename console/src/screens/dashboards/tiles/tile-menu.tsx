// Tile menu: what is done with a tile less often than to look at it.
import {
  ArrowRightFromLine,
  Copy,
  Download,
  EllipsisVertical,
  Expand,
  Pencil,
  Shrink,
} from 'lucide-react';
import { type RefObject, useEffect, useState } from 'react';
import type { TileKind } from '../../../../../src/dashboards/configuration.ts';
import type { BoundTile } from '../../../../../src/dashboards/variables.ts';
import { Menu, type MenuItem } from '../../../ui/menu.tsx';
import { useNarrow } from '../../../ui/use-size.ts';
import { useWords } from '../../../words/language.tsx';
import { menuWords } from './menu-words.ts';
import { useTileFrame } from './tile-data.ts';

/** Kinds whose tiles have values in columns. */
export const kindsWithValues: ReadonlySet<TileKind> = new Set([
  'line',
  'bar',
  'heatmap',
  'histogram',
  'timeline',
  'value',
  'gauge',
]);

interface TileMenuProps {
  readonly tile: BoundTile;
  readonly title: string;
  readonly box: RefObject<HTMLElement | null>;
  /** While tiles are arranged: only what changes them. */
  readonly isEditing?: boolean;
}

export function TileMenu({ tile, title, box, isEditing = false }: TileMenuProps) {
  const words = useWords(menuWords);
  const isNarrow = useNarrow();
  const { act } = useTileFrame();
  const isFull = useFullScreen(box);
  const items: MenuItem[] = [];
  if (document.fullscreenEnabled && !isEditing)
    items.push(
      isFull
        ? { label: words.leaveFullScreen, icon: Shrink, run: () => void document.exitFullscreen() }
        : {
            label: words.fullScreen,
            icon: Expand,
            run: () => void box.current?.requestFullscreen(),
          },
    );
  if (act !== undefined && !isFull) {
    const changes = { needs: 'dashboard: update' } as const;
    if (!isNarrow && !isEditing)
      items.push({ ...changes, label: words.edit, icon: Pencil, run: () => act('edit', tile.id) });
    // Tiles are arranged where there is room for it.
    if (!isNarrow)
      items.push({
        ...changes,
        label: words.duplicate,
        icon: Copy,
        run: () => act('duplicate', tile.id),
      });
    items.push({
      ...changes,
      label: words.copyTo,
      icon: ArrowRightFromLine,
      run: () => act('copy', tile.id),
    });
    if (kindsWithValues.has(tile.kind) && !isEditing)
      items.push({
        label: words.csv,
        icon: Download,
        needs: 'asset: read',
        run: () => act('download', tile.id),
      });
  }
  if (items.length === 0) return null;
  return <Menu label={words.tile(title)} icon={EllipsisVertical} items={items} />;
}

function useFullScreen(box: RefObject<HTMLElement | null>): boolean {
  const [isFull, setFull] = useState(false);
  useEffect(() => {
    const changed = () => setFull(document.fullscreenElement === box.current);
    document.addEventListener('fullscreenchange', changed);
    return () => document.removeEventListener('fullscreenchange', changed);
  }, [box]);
  return isFull;
}
