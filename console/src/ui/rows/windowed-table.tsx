// Windowed table: any number of rows, of which only those in view exist in the page.
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { hasSingleKeys } from '../keys.ts';
import styles from './rows.module.css';
import type { Window } from './use-pages.ts';

// Resize handle: the right edge of a header, which is dragged to another width; keys have the column chooser.

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
function ResizeHandle({ columns, at, resize }: ResizeHandleProps) {
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

// Keys of a windowed table: which row they lead to, and what they do with the current one.

/** Rows of PageUp and PageDown. */
const leapRows = 10;

const steps: Readonly<Record<string, number>> = {
  j: 1,
  J: 1,
  ArrowDown: 1,
  k: -1,
  K: -1,
  ArrowUp: -1,
  PageDown: leapRows,
  PageUp: -leapRows,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** The row to which the key leads; undefined for a key that leads nowhere. */
function nextRow(key: string, current: number, total: number): number | undefined {
  const step = steps[key];
  if (step === undefined || total === 0) return undefined;
  return Math.min(total - 1, Math.max(0, current + step));
}

/** Keys pressed in a control of a row are that control's own, and so are those of the browser. */
function isTableKey(event: KeyboardEvent): boolean {
  if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey)
    return false;
  return event.key.length > 1 || event.key === ' ' || hasSingleKeys();
}

// View of a windowed list: the rows in view and a few around them; renders only when these change.

/** Rows before and after those in view, so that slow scrolling meets no gap. */
const spareRows = 8;
const firstHeight = 600;

function useView(box: RefObject<HTMLElement | null>, total: number, rowPx: number): Window {
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

const standardRowPx = 40;
const headerPx = 34;

export interface Column<T> {
  readonly key: string;
  readonly header: ReactNode;
  readonly sort?: 'ascending' | 'descending';
  /** A track of the grid, such as `minmax(120px, 1fr)`. */
  readonly width: string;
  readonly cell: (row: T, index: number) => ReactNode;
  /** In place of the cell while its row is on the way. */
  readonly bone?: ReactNode;
  /** Takes the width in pixels after a drag; undefined after a double click, for the usual one. */
  readonly resize?: (widthPx: number | undefined) => void;
}

type TableKeys<T> = Readonly<Record<string, (row: T, index: number) => void>>;

export interface WindowedTableProps<T> {
  readonly label: string;
  /** The same array until a cell would show something else: it draws all rows again. */
  readonly columns: readonly Column<T>[];
  readonly total: number;
  readonly rowAt: (index: number) => T | undefined;
  /** Called with the rows in view when they change. */
  readonly onView: (window: Window) => void;
  readonly isSelected?: (row: T) => boolean;
  /** Selects or not; with Shift all rows since the last one. */
  readonly toggle?: (row: T, index: number, isExtending: boolean) => void;
  readonly open?: (row: T) => void;
  /** What further keys do with the current row. */
  readonly keys?: TableKeys<T>;
  readonly rowPx?: number;
  readonly hasHeader?: boolean;
  /** Least width of a row in pixels; the table scrolls sideways below it. */
  readonly leastPx?: number;
  readonly box?: RefObject<HTMLDivElement | null>;
}

export function WindowedTable<T>(props: WindowedTableProps<T>) {
  const { label, columns, total, rowAt, onView, isSelected, hasHeader = true } = props;
  const { rowPx = standardRowPx } = props;
  const ownBox = useRef<HTMLDivElement>(null);
  const box = props.box ?? ownBox;
  const id = useId();
  const { from, to } = useView(box, total, rowPx);
  const [current, setCurrent] = useState(-1);
  useEffect(() => onView({ from, to }), [from, to, onView]);
  const move = (index: number) => {
    setCurrent(index);
    reveal(box.current, index * rowPx, rowPx, hasHeader ? headerPx : 0);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- a grid has one stop, its rows follow by arrow keys
    <div
      ref={box}
      className={styles['table']}
      style={sizesOf(props, rowPx)}
      role="grid"
      aria-label={label}
      aria-rowcount={total + 1}
      aria-multiselectable={isSelected !== undefined}
      aria-activedescendant={current >= from && current < to ? `${id}${current}` : undefined}
      tabIndex={0}
      onKeyDown={(event) => onKey(event, current, move, props)}
    >
      <Header columns={columns} isHidden={!hasHeader} />
      <div className={styles['space']} role="rowgroup" style={{ height: total * rowPx }}>
        {Array.from({ length: to - from }, (_, at) => {
          const index = from + at;
          const row = rowAt(index);
          return (
            <Row
              key={index}
              id={`${id}${index}`}
              index={index}
              row={row}
              columns={columns as readonly Column<unknown>[]}
              topPx={index * rowPx}
              isCurrent={index === current}
              isSelected={row !== undefined && isSelected?.(row) === true}
            />
          );
        })}
      </div>
    </div>
  );
}

function sizesOf<T>({ columns, total, leastPx, hasHeader }: WindowedTableProps<T>, rowPx: number) {
  return {
    '--columns': columns.map(({ width }) => width).join(' '),
    '--row-height': `${rowPx}px`,
    '--rows-height': `${total * rowPx + (hasHeader === false ? 0 : headerPx)}px`,
    ...(leastPx === undefined ? {} : { '--least-width': `${leastPx}px` }),
  } as CSSProperties;
}

interface HeaderProps<T> {
  readonly columns: readonly Column<T>[];
  readonly isHidden: boolean;
}

function Header<T>({ columns, isHidden }: HeaderProps<T>) {
  return (
    <div className={isHidden ? 'sr' : styles['header']} role="row" aria-rowindex={1}>
      {columns.map(({ key, header, sort, resize }, at) => (
        <span
          key={key}
          role="columnheader"
          className={`ellipsis shrinks ${styles['cell']}`}
          aria-sort={sort}
        >
          {header}
          {resize !== undefined && <ResizeHandle columns={columns} at={at} resize={resize} />}
        </span>
      ))}
    </div>
  );
}

interface RowProps {
  readonly id: string;
  readonly index: number;
  readonly row: unknown;
  readonly columns: readonly Column<unknown>[];
  readonly topPx: number;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
}

// Rows that stay in view while the list scrolls are not drawn again.
const Row = memo(function Row(props: RowProps) {
  const { id, index, row, columns, topPx, isCurrent, isSelected } = props;
  return (
    <div
      id={id}
      className={styles['row']}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-current={isCurrent}
      data-selected={isSelected}
      style={{ transform: `translateY(${topPx}px)` }}
    >
      {columns.map(({ key, cell, bone }) => (
        <span key={key} role="gridcell" className={`ellipsis shrinks ${styles['cell']}`}>
          {row === undefined ? bone : cell(row, index)}
        </span>
      ))}
    </div>
  );
});

function onKey<T>(
  event: KeyboardEvent,
  current: number,
  move: (index: number) => void,
  props: WindowedTableProps<T>,
): void {
  if (!isTableKey(event)) return;
  const { toggle, open, keys, rowAt, total } = props;
  const next = nextRow(event.key, current, total);
  if (next !== undefined) {
    event.preventDefault();
    move(next);
    const row = event.shiftKey ? rowAt(next) : undefined;
    if (row !== undefined) toggle?.(row, next, true);
    return;
  }
  const row = current < 0 ? undefined : rowAt(current);
  if (row === undefined) return;
  const select = (one: T) => toggle?.(one, current, event.shiftKey);
  const own: TableKeys<T> = { x: select, X: select, ' ': select, ...(open && { Enter: open }) };
  const does = { ...own, ...keys }[event.key];
  if (does === undefined) return;
  event.preventDefault();
  does(row, current);
}

function reveal(box: HTMLElement | null, topPx: number, rowPx: number, aboveRows: number): void {
  if (box === null) return;
  const height = box.clientHeight - aboveRows;
  if (topPx < box.scrollTop) box.scrollTop = topPx;
  else if (topPx + rowPx > box.scrollTop + height) box.scrollTop = topPx + rowPx - height;
}
