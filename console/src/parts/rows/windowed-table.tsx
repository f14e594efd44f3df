// Windowed table: any number of rows, of which only those in view exist in the page.
import {
  type CSSProperties,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from 'react';
import styles from './rows.module.css';
import type { Window } from './use-pages.ts';

const rowPx = 40;
const headerPx = 34;
/** Rows before and after those in view, so that slow scrolling meets no gap. */
const spareRows = 8;

export interface Column<T> {
  readonly key: string;
  readonly header: ReactNode;
  /** A track of the grid, such as `minmax(120px, 1fr)`. */
  readonly width: string;
  readonly cell: (row: T) => ReactNode;
}

interface WindowedTableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly total: number;
  readonly rowAt: (index: number) => T | undefined;
  /** Called with the rows in view when they change. */
  readonly onView: (window: Window) => void;
  readonly isSelected?: (row: T) => boolean;
  readonly toggle?: (row: T) => void;
  readonly open?: (row: T) => void;
}

export function WindowedTable<T>(props: WindowedTableProps<T>) {
  const { label, columns, total, onView } = props;
  const box = useRef<HTMLDivElement>(null);
  const [current, setCurrent] = useState(-1);
  const view = useView(box, total);
  useEffect(() => onView(view), [view, onView]);
  const tracks = { '--columns': columns.map(({ width }) => width).join(' ') } as CSSProperties;
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const next = nextRow(event, current, total);
    if (next !== undefined) {
      event.preventDefault();
      setCurrent(next);
      reveal(box.current, next);
    } else act(event, current, props);
  };
  return (
    <div
      ref={box}
      className={styles['table']}
      style={tracks}
      role="grid"
      aria-label={label}
      aria-rowcount={total + 1}
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className={styles['header']} role="row" aria-rowindex={1}>
        {columns.map(({ key, header }) => (
          <span key={key} role="columnheader" className={styles['cell']}>
            {header}
          </span>
        ))}
      </div>
      <div className={styles['space']} role="rowgroup" style={{ height: total * rowPx }}>
        {Array.from({ length: view.to - view.from }, (_, at) => (
          <Row key={view.from + at} index={view.from + at} current={current} {...props} />
        ))}
      </div>
    </div>
  );
}

interface RowProps<T> extends WindowedTableProps<T> {
  readonly index: number;
  readonly current: number;
}

function Row<T>({ index, current, columns, rowAt, isSelected }: RowProps<T>) {
  const row = rowAt(index);
  return (
    <div
      className={styles['row']}
      role="row"
      aria-rowindex={index + 2}
      data-current={index === current}
      data-selected={row !== undefined && isSelected?.(row) === true}
      style={{ transform: `translateY(${index * rowPx}px)` }}
    >
      {columns.map(({ key, cell }) => (
        <span key={key} role="gridcell" className={styles['cell']}>
          {row === undefined ? null : cell(row)}
        </span>
      ))}
    </div>
  );
}

/** The rows in view, and a few around them. */
function useView(box: { readonly current: HTMLDivElement | null }, total: number): Window {
  const [place, setPlace] = useState({ top: 0, height: 600 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = () => setPlace({ top: element.scrollTop, height: element.clientHeight });
    const sizes = new ResizeObserver(look);
    sizes.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      sizes.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [box]);
  const from = Math.max(0, Math.floor(place.top / rowPx) - spareRows);
  const to = Math.min(total, Math.ceil((place.top + place.height) / rowPx) + spareRows);
  const [view, setView] = useState<Window>({ from: 0, to: 0 });
  if (view.from !== from || view.to !== to) setView({ from, to: Math.max(from, to) });
  return view;
}

function nextRow({ key }: KeyboardEvent, current: number, total: number): number | undefined {
  const steps: Readonly<Record<string, number>> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 };
  const step = steps[key];
  if (step === undefined || total === 0) return undefined;
  return Math.min(total - 1, Math.max(0, current + step));
}

function act<T>(event: KeyboardEvent, current: number, props: WindowedTableProps<T>): void {
  if (event.target !== event.currentTarget) return;
  const row = current < 0 ? undefined : props.rowAt(current);
  if (row === undefined) return;
  const acts: Readonly<Record<string, ((row: T) => void) | undefined>> = {
    x: props.toggle,
    ' ': props.toggle,
    Enter: props.open,
  };
  const does = acts[event.key];
  if (does === undefined) return;
  event.preventDefault();
  does(row);
}

function reveal(box: HTMLDivElement | null, index: number): void {
  if (box === null) return;
  const [top, bottom] = [index * rowPx, (index + 1) * rowPx];
  const height = box.clientHeight - headerPx;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + height) box.scrollTop = bottom - height;
}
