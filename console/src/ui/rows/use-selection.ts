// Selection in a list: single rows, ranges with Shift, or all that match the filter of the list.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { toastFailure } from '../toasts.tsx';
import type { Window } from './use-pages.ts';

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

export interface SelectableRows<T> {
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
