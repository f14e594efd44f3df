// View of a windowed list: the rows in view and a few around them; renders only when these change.
import { type RefObject, useEffect, useState } from 'react';
import type { Window } from './use-pages.ts';

/** Rows before and after those in view, so that slow scrolling meets no gap. */
const spareRows = 8;
const firstHeight = 600;

export function useView(box: RefObject<HTMLElement | null>, total: number, rowPx: number): Window {
  const [first, setFirst] = useState(0);
  const [shown, setShown] = useState(Math.ceil(firstHeight / rowPx));
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = () => {
      setFirst(Math.floor(element.scrollTop / rowPx));
      setShown(Math.ceil(element.clientHeight / rowPx) + 1);
    };
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [box, rowPx]);
  const to = Math.min(total, first + shown + spareRows);
  return { from: Math.max(0, Math.min(first - spareRows, to)), to };
}
