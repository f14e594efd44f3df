// Resize handle: the right edge of a header, which is dragged to another width; keys have the column chooser.
import { type PointerEvent, useRef, useState } from 'react';
import styles from './rows.module.css';

interface ResizeHandleProps {
  readonly columns: readonly { readonly width: string }[];
  readonly at: number;
  readonly resize: (widthPx: number | undefined) => void;
}

const leastPx = 60;

interface Drag {
  readonly fromX: number;
  readonly fromPx: number;
  readonly table: HTMLElement;
}

/** While it is dragged only the grid's tracks change; the rows are not drawn again. */
export function ResizeHandle({ columns, at, resize }: ResizeHandleProps) {
  const drag = useRef<Drag>(undefined);
  const [isDragged, setDragged] = useState(false);
  const widthAt = (x: number, { fromX, fromPx }: Drag) => Math.max(leastPx, fromPx + x - fromX);
  const start = (event: PointerEvent<HTMLElement>) => {
    const handle = event.currentTarget;
    const [cell, table] = [handle.parentElement, handle.closest<HTMLElement>('[role="grid"]')];
    if (cell === null || table === null) return;
    handle.setPointerCapture(event.pointerId);
    drag.current = { fromX: event.clientX, fromPx: cell.offsetWidth, table };
    setDragged(true);
    event.preventDefault();
  };
  const move = ({ clientX }: PointerEvent) => {
    if (drag.current === undefined) return;
    const px = widthAt(clientX, drag.current);
    const tracks = columns.map(({ width }, index) => (index === at ? `${px}px` : width));
    drag.current.table.style.setProperty('--columns', tracks.join(' '));
  };
  const end = ({ clientX }: PointerEvent) => {
    const ended = drag.current;
    drag.current = undefined;
    setDragged(false);
    if (ended !== undefined && clientX !== ended.fromX) resize(widthAt(clientX, ended));
  };
  return (
    <span
      className={styles['handle']}
      aria-hidden="true"
      data-dragged={isDragged}
      onPointerDown={start}
      onPointerMove={move}
      onPointerUp={end}
      onDoubleClick={() => resize(undefined)}
    />
  );
}
