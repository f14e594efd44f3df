// Selection of devices: single rows, ranges with Shift, or all that match the filter of the list.
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Window } from '../../parts/rows/use-pages.ts';
import { toastFailure } from '../../parts/toasts.tsx';
import type { Device } from './device-list.ts';

export interface Selection {
  /** All that match, also those that no one has seen yet. */
  readonly isAll: boolean;
  /** Of single rows. */
  readonly count: number;
  readonly devices: readonly Device[];
  readonly has: (device: Device) => boolean;
  /** With `isExtending` all rows since the last one that was selected. */
  readonly toggle: (device: Device, index: number, isExtending: boolean) => void;
  /** Selects the devices of the pages in view, or nothing if something is selected. */
  readonly toggleShown: () => void;
  readonly selectAll: () => void;
  readonly clear: () => void;
}

interface Chosen {
  readonly isAll: boolean;
  readonly rows: ReadonlyMap<string, Device>;
}

const nothing: Chosen = { isAll: false, rows: new Map() };

export interface SelectableRows {
  readonly loaded: readonly (readonly Device[])[];
  readonly rowsBetween: (window: Window) => Promise<readonly Device[]>;
}

/** What was selected under another `scope`, such as another filter, is selected no more. */
export function useSelection(rows: SelectableRows, scope: string): Selection {
  const [chosen, setChosen] = useState(nothing);
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
  const add = useCallback((devices: readonly Device[]) => {
    setChosen(({ rows: before }) => ({
      isAll: false,
      rows: new Map([...before, ...devices.map((device) => [device.id, device] as const)]),
    }));
  }, []);
  const toggle = useCallback<Selection['toggle']>(
    (device, index, isExtending) => {
      const [from, to] = [Math.min(anchor.current, index), Math.max(anchor.current, index) + 1];
      anchor.current = index;
      if (isExtending) latest.current.rowsBetween({ from, to }).then(add, toastFailure);
      else setChosen((before) => toggled(before, device));
    },
    [add],
  );
  return useMemo<Selection>(
    () => ({
      isAll: chosen.isAll,
      count: chosen.rows.size,
      devices: [...chosen.rows.values()],
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

function toggled({ rows }: Chosen, device: Device): Chosen {
  const changed = new Map(rows);
  if (!changed.delete(device.id)) changed.set(device.id, device);
  return { isAll: false, rows: changed };
}
