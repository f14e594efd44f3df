// Open place: an open or kept row with its place in the order of storing of all journals.
import type { OpenRow } from './open-row.ts';
import type { PlacedRow } from './sealed-rows.ts';

export interface OpenPlace extends PlacedRow {
  readonly row: OpenRow;
}

export function placeOf(row: OpenRow, journal: number): OpenPlace {
  const { timestamp: ts, storedAt, position, index: idx } = row;
  return { ts, storedAt, journal, position, idx, row };
}
