// Grid edit: tiles are moved and resized by the pointer and by the keyboard, and each step is said.
import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react';
import type { Tile } from '../../../../../src/dashboards/configuration.ts';
import { arranged, type Box, boxIn, fitted, type Step, stepped } from './layout.ts';

interface Grab {
  readonly id: string;
  readonly wanted: Box;
  readonly by: 'keys' | 'pointer';
}

export type GridNews = 'grabbed' | 'moved' | 'dropped' | 'canceled';

export interface GridEdit {
  /** With the tile that is grabbed where it would go. */
  readonly tiles: readonly Tile[];
  readonly grabbedId: string | undefined;
  readonly news: { readonly what: GridNews; readonly tile: Tile } | undefined;
  readonly handle: (tile: Tile) => HandleListeners;
  /** Listeners of the corner that changes the size. */
  readonly corner: (tile: Tile) => PointerListeners;
}

interface PointerListeners {
  readonly onPointerDown: (event: PointerEvent<HTMLElement>) => void;
  readonly onPointerMove: (event: PointerEvent<HTMLElement>) => void;
  readonly onPointerUp: () => void;
  readonly onPointerCancel: () => void;
}

interface HandleListeners extends PointerListeners {
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onBlur: () => void;
}

const arrows: Readonly<Record<string, readonly [across: number, down: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export function useGridEdit(tiles: readonly Tile[], change: (tiles: Tile[]) => void): GridEdit {
  const [grab, setGrab] = useState<Grab>();
  const [news, setNews] = useState<GridEdit['news']>();
  const shown = grab === undefined ? tiles : arranged(tiles, grab.id, grab.wanted);
  const say = (what: GridNews, list: readonly Tile[], id: string) => {
    const tile = list.find((one) => one.id === id);
    if (tile !== undefined) setNews({ what, tile });
  };
  const take = (next: Grab) => {
    setGrab(next);
    say(grab === undefined ? 'grabbed' : 'moved', arranged(tiles, next.id, next.wanted), next.id);
  };
  const drop = () => {
    if (grab === undefined) return;
    setGrab(undefined);
    change(shown as Tile[]);
    say('dropped', shown, grab.id);
  };
  const cancel = () => {
    if (grab === undefined) return;
    setGrab(undefined);
    say('canceled', tiles, grab.id);
  };
  const pointer = usePointer({ tiles, grab, take, drop, cancel });
  const onKeyDown = (tile: Tile) => (event: KeyboardEvent) => {
    const isGrabbed = grab?.id === tile.id;
    const arrow = arrows[event.key];
    if (event.key === ' ' || (event.key === 'Enter' && isGrabbed)) {
      if (isGrabbed) drop();
      else take({ id: tile.id, wanted: boxOf(tile), by: 'keys' });
    } else if (event.key === 'Escape' && isGrabbed) cancel();
    else if (arrow !== undefined && isGrabbed) {
      const step = stepOf(arrow, event.shiftKey);
      take({ ...grab, wanted: stepped(tiles, tile.id, grab.wanted, step) });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return {
    tiles: shown,
    grabbedId: grab?.id,
    news,
    handle: (tile) => ({
      ...pointer(tile, false),
      onKeyDown: onKeyDown(tile),
      onBlur: () => {
        if (grab?.by === 'keys' && grab.id === tile.id) drop();
      },
    }),
    corner: (tile) => pointer(tile, true),
  };
}

function stepOf([across, down]: readonly [number, number], isResize: boolean): Step {
  return isResize ? { width: across, height: down } : { x: across, y: down };
}

interface PointerParts {
  readonly tiles: readonly Tile[];
  readonly grab: Grab | undefined;
  readonly take: (grab: Grab) => void;
  readonly drop: () => void;
  readonly cancel: () => void;
}

interface Start {
  readonly clientX: number;
  readonly clientY: number;
  readonly box: Box;
  readonly cell: readonly [width: number, height: number];
}

function usePointer({ tiles, grab, take, drop, cancel }: PointerParts) {
  const start = useRef<Start>(undefined);
  return (tile: Tile, isResize: boolean): PointerListeners => ({
    onPointerDown(event) {
      const grid = event.currentTarget.closest('[data-grid]');
      if (event.button !== 0 || grid === null) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      const { clientX, clientY } = event;
      start.current = { clientX, clientY, box: boxOf(tile), cell: cellOf(grid) };
    },
    onPointerMove(event) {
      const from = start.current;
      if (from === undefined) return;
      const across = Math.round((event.clientX - from.clientX) / from.cell[0]);
      const down = Math.round((event.clientY - from.clientY) / from.cell[1]);
      const { box } = from;
      const wanted = isResize
        ? {
            ...box,
            width: Math.min(12 - box.x, Math.max(1, box.width + across)),
            height: box.height + down,
          }
        : { ...box, x: box.x + across, y: box.y + down };
      const fit = fitted(wanted);
      const now = grab === undefined ? boxIn(tiles, tile.id) : grab.wanted;
      if (JSON.stringify(boxOf({ ...fit })) === JSON.stringify(now && boxOf(now))) return;
      take({ id: tile.id, wanted: fit, by: 'pointer' });
    },
    onPointerUp() {
      start.current = undefined;
      if (grab?.by === 'pointer') drop();
    },
    onPointerCancel() {
      start.current = undefined;
      if (grab?.by === 'pointer') cancel();
    },
  });
}

function boxOf({ x, y, width, height }: Box): Box {
  return { x, y, width, height };
}

/** A column and a row with the space after each, in pixels. */
function cellOf(grid: Element): readonly [number, number] {
  const style = getComputedStyle(grid);
  const gap = Number.parseFloat(style.columnGap);
  const width = (grid.clientWidth + gap) / 12;
  return [width, Number.parseFloat(style.gridAutoRows) + gap];
}
