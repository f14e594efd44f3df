// Column order: which columns the device list has, in which order and width, as its address has them.
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

// Keys of the columns of the device list, as its address has them.

export const standardColumns = ['seen', 'type', 'tags', 'values', 'battery'] as const;
/** Those that a list has only when they are chosen are last. */
export const namedColumns = [...standardColumns, 'place'] as const;
export type StandardColumn = (typeof namedColumns)[number];

type ColumnName =
  | { readonly kind: 'standard'; readonly name: StandardColumn }
  /** A custom field. */
  | { readonly kind: 'field'; readonly name: string }
  /** A value of the newest sample of a topic. */
  | { readonly kind: 'value'; readonly topic: string; readonly key: string };

export function columnKey(column: ColumnName): string {
  if (column.kind === 'standard') return column.name;
  if (column.kind === 'field') return `field:${encodeURIComponent(column.name)}`;
  return `value:${encodeURIComponent(column.topic)}:${encodeURIComponent(column.key)}`;
}

/** Undefined for an unknown key, such as a mistake in an address. */
export function readColumnKey(key: string): ColumnName | undefined {
  const name = namedColumns.find((one) => one === key);
  if (name !== undefined) return { kind: 'standard', name };
  const [kind, first = '', second = ''] = key.split(':').map(decoded);
  if (kind === 'field' && first !== '') return { kind, name: first };
  if (kind === 'value' && second !== '') return { kind, topic: first, key: second };
  return undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
