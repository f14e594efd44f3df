// Sizes: those of a box on the page in pixels, and whether the window is narrow.
import { type RefObject, useEffect, useState, useSyncExternalStore } from 'react';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Nothing wide and high before the box is there. */
export function useSize(box: RefObject<HTMLElement | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const sizes = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [box]);
  return size;
}

// Narrow windows, such as a phone: lists then show two lines a row instead of many columns.

const narrow = matchMedia('(max-width: 900px)');

export function useNarrow(): boolean {
  return useSyncExternalStore(watch, () => narrow.matches);
}

function watch(watcher: () => void): () => void {
  narrow.addEventListener('change', watcher);
  return () => narrow.removeEventListener('change', watcher);
}
