// Row steps: `j` and `k` in the list of a page, whichever kind of table it is.

const rowControl = 'a[href], button:not(:disabled)';

/** Gives the grid of the page the focus and the key; undefined on a page without one. */
export function gridAction(key: string): (() => void) | undefined {
  const grid = document.querySelector<HTMLElement>('main [role="grid"]');
  if (grid === null || grid === document.activeElement) return undefined;
  return () => {
    grid.focus();
    grid.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  };
}

/** Into the grid, which then handles the keys itself; else from row to row of a table. */
export function stepRow(key: string): void {
  const inGrid = gridAction(key);
  if (inGrid !== undefined) return inGrid();
  const rows = [...document.querySelectorAll<HTMLElement>('main tbody tr, main ul[data-rows] li')];
  const open = rows.filter((row) => row.checkVisibility() && row.querySelector(rowControl));
  const at = open.findIndex((row) => row.contains(document.activeElement));
  const next = at < 0 ? open[0] : open[at + (key === 'j' ? 1 : -1)];
  const control = next?.querySelector<HTMLElement>(rowControl);
  control?.focus();
  control?.scrollIntoView({ block: 'nearest' });
}
