// Height of an element: charts fill the tile that they are in.
import { type RefObject, useEffect, useRef, useState } from 'react';

export function useElementHeight(): {
  readonly box: RefObject<HTMLDivElement | null>;
  /** Of the content, in pixels; 0 before the first measure. */
  readonly height: number;
} {
  const box = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const sizes = new ResizeObserver(([entry]) => {
      setHeight(Math.floor(entry?.contentRect.height ?? 0));
    });
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  return { box, height };
}
