// Selectable table: rows read as they come into view, with a box each and ranges by Shift.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { toastFailure } from '../toasts.tsx';
import { useNarrow } from '../use-size.ts';
import type { Pages, Window } from './use-pages.ts';
import { type Column, WindowedTable, type WindowedTableProps } from './windowed-table.tsx';

const skeletonRows = 12;

interface SelectableTableProps<T extends { readonly id: string }>
  extends Pick<WindowedTableProps<T>, 'label' | 'columns' | 'open' | 'keys' | 'box'> {
  readonly pages: Pages<T>;
  /** Without it no row can be selected. */
  readonly selection?: Selection<T> | undefined;
  /** Of a row on a phone, in pixels. */
  readonly narrowRowPx: number;
  readonly leastPx: number;
}

export function SelectableTable<T extends { readonly id: string }>(props: SelectableTableProps<T>) {
  const { pages, selection, narrowRowPx, leastPx, ...table } = props;
  const isNarrow = useNarrow();
  return (
    <WindowedTable
      {...table}
      total={pages.total ?? skeletonRows}
      rowAt={pages.rowAt}
      onView={pages.onView}
      {...(selection && { isSelected: selection.has, toggle: selection.toggle })}
      leastPx={isNarrow ? 0 : leastPx}
      {...(isNarrow ? { rowPx: narrowRowPx, hasHeader: false } : {})}
    />
  );
}

// Select column: a box for each row, and one for all rows in view.

interface SelectWords {
  readonly selectShown: string;
  readonly select: (name: string) => string;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

export function selectColumn<T extends Named>(
  selection: Selection<T>,
  words: SelectWords,
): Column<T> {
  return {
    key: 'select',
    width: '20px',
    header: (
      <input
        type="checkbox"
        aria-label={words.selectShown}
        checked={selection.isAll || selection.count > 0}
        ref={(box) => {
          if (box !== null) box.indeterminate = !selection.isAll && selection.count > 0;
        }}
        onChange={selection.toggleShown}
      />
    ),
    cell: (row, index) => (
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label={words.select(row.name)}
        checked={selection.has(row)}
        onChange={({ nativeEvent }) =>
          selection.toggle(row, index, (nativeEvent as MouseEvent).shiftKey)
        }
      />
    ),
  };
}

// Selection in a list: single rows, ranges with Shift, or all that match the filter of the list.

interface Row {
  readonly id: string;
}

export interface Selection<T extends Row> {
  /** All that match, also those that no one has seen yet. */
  readonly isAll: boolean;
  /** Of single rows. */
  readonly count: number;
  readonly rows: readonly T[];
  readonly has: (row: T) => boolean;
  /** With `isExtending` all rows since the last one that was selected. */
  readonly toggle: (row: T, index: number, isExtending: boolean) => void;
  /** Selects the rows of the pages in view, or nothing if something is selected. */
  readonly toggleShown: () => void;
  readonly selectAll: () => void;
  readonly clear: () => void;
}

interface Chosen<T extends Row> {
  readonly isAll: boolean;
  readonly rows: ReadonlyMap<string, T>;
}

const nothing: Chosen<never> = { isAll: false, rows: new Map<string, never>() };

interface SelectableRows<T> {
  readonly loaded: readonly (readonly T[])[];
  readonly rowsBetween: (window: Window) => Promise<readonly T[]>;
}

/** What was selected under another `scope`, such as another filter, is selected no more. */
export function useSelection<T extends Row>(rows: SelectableRows<T>, scope: string): Selection<T> {
  const [chosen, setChosen] = useState<Chosen<T>>(nothing);
  const [lastScope, setLastScope] = useState(scope);
  if (scope !== lastScope) {
    setLastScope(scope);
    setChosen(nothing);
  }
  const anchor = useRef(0);
  const latest = useRef(rows);
  useEffect(() => {
    latest.current = rows;
  });
  const add = useCallback((added: readonly T[]) => {
    setChosen(({ rows: before }) => ({
      isAll: false,
      rows: new Map([...before, ...added.map((row) => [row.id, row] as const)]),
    }));
  }, []);
  const toggle = useCallback<Selection<T>['toggle']>(
    (row, index, isExtending) => {
      const [from, to] = [Math.min(anchor.current, index), Math.max(anchor.current, index) + 1];
      anchor.current = index;
      if (isExtending) latest.current.rowsBetween({ from, to }).then(add, toastFailure);
      else setChosen((before) => toggled(before, row));
    },
    [add],
  );
  return useMemo<Selection<T>>(
    () => ({
      isAll: chosen.isAll,
      count: chosen.rows.size,
      rows: [...chosen.rows.values()],
      has: ({ id }) => chosen.isAll || chosen.rows.has(id),
      toggle,
      toggleShown: () => {
        if (chosen.isAll || chosen.rows.size > 0) setChosen(nothing);
        else add(latest.current.loaded.flat());
      },
      selectAll: () => setChosen({ isAll: true, rows: new Map() }),
      clear: () => setChosen(nothing),
    }),
    [chosen, toggle, add],
  );
}

function toggled<T extends Row>({ rows }: Chosen<T>, row: T): Chosen<T> {
  const changed = new Map(rows);
  if (!changed.delete(row.id)) changed.set(row.id, row);
  return { isAll: false, rows: changed };
}
