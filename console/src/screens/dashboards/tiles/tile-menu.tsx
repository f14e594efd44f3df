// Tile menu: what is done with a tile less often than to look at it.
import {
  ArrowRightFromLine,
  BellPlus,
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
import { AddAlarm, addAlarmWords } from '../../rules/chart-alarm/add-alarm-button.tsx';
import { menuWords } from './menu-words.ts';
import { useAlarmSources, useTileFrame } from './tile-data.ts';

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

/** Kinds of one value. Charts have a button for their alarms. */
const watchedKinds: ReadonlySet<TileKind> = new Set(['value', 'gauge']);

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
  const alarm = useWords(addAlarmWords);
  const { workspaceId, act } = useTileFrame();
  const sources = useAlarmSources(tile);
  const [isAdding, setAdding] = useState(false);
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
  if (watchedKinds.has(tile.kind) && sources.length > 0 && !isEditing && !isFull)
    items.push({
      label: alarm.add,
      icon: BellPlus,
      needs: 'rule: create',
      run: () => setAdding(true),
    });
  if (items.length === 0) return null;
  return (
    <>
      <Menu label={words.tile(title)} icon={EllipsisVertical} items={items} />
      {isAdding && (
        <AddAlarm workspaceId={workspaceId} sources={sources} close={() => setAdding(false)} />
      )}
    </>
  );
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
