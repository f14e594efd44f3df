// Gestures of a map: drag, wheel, pinch and double click, and the keys for the same.
import { type KeyboardEvent, type PointerEvent, useEffect, useRef } from 'react';
import type { RefObject } from 'react';
import { panned, type Size, type View, type WorldPoint, zoomedAt } from './view.ts';

const keyPx = 80;
/** A press that moves less is a click. */
const clickPx = 4;
const wheelPerStep = 320;

interface GestureParts {
  readonly box: RefObject<HTMLElement | null>;
  readonly size: Size;
  readonly view: View;
  readonly show: (view: View) => void;
  readonly fit: () => void;
  readonly click: (at: WorldPoint) => void;
  /** A wheel over a small map scrolls the page, unless Ctrl is pressed. */
  readonly hasWheel: boolean;
}

export function useGestures(parts: GestureParts) {
  const latest = useRef(parts);
  useEffect(() => {
    latest.current = parts;
  });
  const pointers = useRef(new Map<number, WorldPoint>());
  const moved = useRef(0);
  const { box } = parts;
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const onWheel = (event: WheelEvent) => {
      const { hasWheel, view, size, show } = latest.current;
      if (!hasWheel && !event.ctrlKey) return;
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const at = { x: event.clientX - left, y: event.clientY - top };
      show(zoomedAt(view, size, at, -event.deltaY / wheelPerStep));
    };
    // React listens passively, and a passive listener cannot keep the page from scrolling.
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => element.removeEventListener('wheel', onWheel);
  }, [box]);
  const at = (event: PointerEvent<HTMLElement> | MouseEventOf): WorldPoint => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  return {
    onPointerDown(event: PointerEvent<HTMLElement>) {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      pointers.current.set(event.pointerId, at(event));
      moved.current = 0;
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const before = pointers.current.get(event.pointerId);
      if (before === undefined) return;
      const now = at(event);
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
      pointers.current.set(event.pointerId, now);
      moved.current += Math.hypot(now.x - before.x, now.y - before.y);
      if (moved.current < clickPx) return;
      parts.show(
        other === undefined ? dragged(parts, before, now) : pinched(parts, { before, now, other }),
      );
    },
    onPointerUp(event: PointerEvent<HTMLElement>) {
      const isClick = pointers.current.size === 1 && moved.current < clickPx;
      if (pointers.current.delete(event.pointerId) && isClick) parts.click(at(event));
    },
    onPointerCancel(event: PointerEvent<HTMLElement>) {
      pointers.current.delete(event.pointerId);
    },
    onDoubleClick(event: MouseEventOf) {
      parts.show(zoomedAt(parts.view, parts.size, at(event), 1));
    },
    onKeyDown(event: KeyboardEvent) {
      const next = afterKey(event, parts);
      if (next === undefined) return;
      event.preventDefault();
      if (next === 'fit') parts.fit();
      else parts.show(next);
    },
  };
}

interface MouseEventOf {
  readonly currentTarget: HTMLElement;
  readonly clientX: number;
  readonly clientY: number;
}

function dragged({ view }: GestureParts, before: WorldPoint, now: WorldPoint): View {
  return panned(view, before.x - now.x, before.y - now.y);
}

interface Pinch {
  readonly before: WorldPoint;
  readonly now: WorldPoint;
  readonly other: WorldPoint;
}

function pinched({ view, size }: GestureParts, { before, now, other }: Pinch): View {
  const distance = (a: WorldPoint) => Math.max(1, Math.hypot(a.x - other.x, a.y - other.y));
  const middle = { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 };
  const steps = Math.log2(distance(now) / distance(before));
  const moved = panned(view, (before.x - now.x) / 2, (before.y - now.y) / 2);
  return zoomedAt(moved, size, middle, steps);
}

function afterKey(event: KeyboardEvent, { view, size }: GestureParts): View | 'fit' | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const middle = { x: size.width / 2, y: size.height / 2 };
  const keys: Readonly<Record<string, () => View | 'fit'>> = {
    ArrowLeft: () => panned(view, -keyPx, 0),
    ArrowRight: () => panned(view, keyPx, 0),
    ArrowUp: () => panned(view, 0, -keyPx),
    ArrowDown: () => panned(view, 0, keyPx),
    '+': () => zoomedAt(view, size, middle, 1),
    '=': () => zoomedAt(view, size, middle, 1),
    '-': () => zoomedAt(view, size, middle, -1),
    '0': () => 'fit',
  };
  return keys[event.key]?.();
}
