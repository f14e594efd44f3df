// Slice writer: the sorted rows of one device become slices, one for each UTC day.
import { pageRowsMax } from './page-format.ts';
import type { PageRows, PageWriter } from './page-writer.ts';

const dayMs = 86_400_000;

/** Rows of one device in the order of time, as columns of which row `at(i)` is the i-th. */
export interface DeviceRows {
  readonly device: number;
  readonly length: number;
  readonly at: (place: number) => number;
  readonly timestamps: Float64Array;
  /** Copies `length` rows from place `from` on to the page, from row `to` on. */
  readonly copy: (from: number, length: number, page: PageRows, to: number) => void;
}

/** A slice reaches over one UTC day at most, so that statistics answer whole days. */
export function writeSlices(pages: PageWriter, rows: DeviceRows): void {
  const { device, length, at, timestamps } = rows;
  for (let from = 0; from < length; ) {
    const dayEnd = (Math.floor(timestamps[at(from)]! / dayMs) + 1) * dayMs;
    let to = from + 1;
    while (to < length && to - from < pageRowsMax && timestamps[at(to)]! < dayEnd) to++;
    rows.copy(from, to - from, pages.rows, pages.addSlice(device, to - from));
    from = to;
  }
}
