// Page format: the sections of a page of a run, and what its rows are made of.
import { type LeafKind, leafKinds } from '../../../log/data-shape.ts';

/** Rows of a page at most; a page has whole slices. */
export const pageRowsMax = 4_096;

/** Sections of every page; those of the columns follow, then one of statistics for each column. */
export const pageSections = { slices: 0, times: 1, orders: 2, origins: 3, metas: 4 } as const;
export const fixedPageSections = 5;

/** Bytes behind the content of each section: its CRC32 and four bytes of zero. */
export const sectionTailBytes = 8;

/** How the values of a leaf are stored in a run. */
export type ColumnKind = 'number' | 'boolean' | 'text';

export function columnKindOf(kind: LeafKind): ColumnKind {
  if (kind === leafKinds.number) return 'number';
  return kind === leafKinds.boolean ? 'boolean' : 'text';
}

/** Sections of a page of a run with that many columns. */
export function sectionsOf(columns: number): number {
  return fixedPageSections + 2 * columns;
}

/** What the index of a run says about a page. */
export interface PageEntry {
  readonly rows: number;
  /** Device numbers of the first and the last slice. */
  readonly firstDevice: number;
  readonly lastDevice: number;
  /** Times of the oldest and the newest row. */
  readonly oldest: number;
  readonly newest: number;
  /** For each section the offset in the page behind its last byte. A section without bytes is absent. */
  readonly ends: readonly number[];
}

/** Set in the tag of a column's first block: it has the first value of each slice, a second block the differences within slices. */
export const slicedTag = 64;
/** Decimal places of the values of a column, in the other bits of the tag. */
export const digitsMask = 63;
export const digitsMax = 9;
/** Scaled values stay below, so that their differences and sums over a slice are exact. */
export const scaledMax = 2 ** 40;
export const powersOfTen: readonly number[] = Array.from(
  { length: digitsMax + 1 },
  (_, i) => 10 ** i,
);
/** Statistics are kept on pages with at least this many rows per slice: on shorter slices they cost more than the rows. */
export const rowsForStatistics = 16;
