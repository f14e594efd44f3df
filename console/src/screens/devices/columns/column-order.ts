// Column order: which columns the device list has, in which order and width, as its address has them.
import { readColumnKey, standardColumns } from '../column-keys.ts';
import type { DeviceSearch } from '../device-search.ts';

export interface ChosenColumn {
  readonly key: string;
  /** In pixels; as wide as its kind without it. */
  readonly widthPx?: number;
}

export const widthLimits = { min: 60, max: 600 } as const;
const columnsMax = 30;

export function columnsOf(search: Pick<DeviceSearch, 'cols'>): readonly ChosenColumn[] {
  if (search.cols === undefined) return standardColumns.map((key) => ({ key }));
  const chosen = search.cols.split(',').map(readColumn);
  const known = chosen.filter(({ key }) => readColumnKey(key) !== undefined);
  return [...new Map(known.map((column) => [column.key, column])).values()].slice(0, columnsMax);
}

export function columnKeysOf(search: Pick<DeviceSearch, 'cols'>): readonly string[] {
  return columnsOf(search).map(({ key }) => key);
}

/** Undefined for the standard columns, which an address does not name. */
export function colsOf(columns: readonly ChosenColumn[]): string | undefined {
  const cols = columns
    .map(({ key, widthPx }) => (widthPx === undefined ? key : `${key}@${widthPx}`))
    .join(',');
  return cols === standardColumns.join(',') ? undefined : cols;
}

export function withColumns(search: DeviceSearch, columns: readonly ChosenColumn[]): DeviceSearch {
  const { cols: _, ...rest } = search;
  const cols = colsOf(columns);
  return cols === undefined ? rest : { ...rest, cols };
}

export function movedColumn(
  columns: readonly ChosenColumn[],
  from: number,
  to: number,
): readonly ChosenColumn[] {
  const moved = columns[from];
  const last = columns.length - 1;
  if (moved === undefined || to < 0 || to > last) return columns;
  const others = columns.filter((_, at) => at !== from);
  return [...others.slice(0, to), moved, ...others.slice(to)];
}

export function resizedColumn(
  columns: readonly ChosenColumn[],
  key: string,
  widthPx: number | undefined,
): readonly ChosenColumn[] {
  return columns.map((column) => {
    if (column.key !== key) return column;
    return widthPx === undefined ? { key } : { key, widthPx: limited(widthPx) };
  });
}

function limited(widthPx: number): number {
  return Math.round(Math.min(widthLimits.max, Math.max(widthLimits.min, widthPx)));
}

/** The key itself has no `@`: it is encoded. */
function readColumn(written: string): ChosenColumn {
  const [key = '', width] = written.split('@');
  const widthPx = Number(width);
  return width === undefined || !Number.isFinite(widthPx)
    ? { key }
    : { key, widthPx: limited(widthPx) };
}
