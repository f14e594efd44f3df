// Slice table: the slices of the page under construction.
import { pageRowsMax } from './page-format.ts';

/** Room for one value of each row of a page. */
export const newValues = (): Float64Array => new Float64Array(pageRowsMax);

export function createSliceTable() {
  const devices = newValues();
  const lengths = newValues();
  const firsts = newValues();
  const spans = newValues();
  const table = {
    devices,
    lengths,
    firsts,
    spans,
    count: 0,
    rows: 0,
    get firstDevice(): number {
      return devices[0]!;
    },
    get lastDevice(): number {
      return devices[table.count - 1]!;
    },
    add: (device: number, length: number): number => {
      const first = table.rows;
      devices[table.count] = device;
      lengths[table.count++] = length;
      table.rows += length;
      return first;
    },
    clear: (): void => {
      table.count = 0;
      table.rows = 0;
    },
    /** Sets `firsts` and `spans`; returns the times of the oldest and the newest row. */
    times: (timestamps: Float64Array): { oldest: number; newest: number } => {
      let oldest = Number.POSITIVE_INFINITY;
      let newest = Number.NEGATIVE_INFINITY;
      for (let slice = 0, row = 0; slice < table.count; slice++) {
        const first = timestamps[row]!;
        row += lengths[slice]!;
        const last = timestamps[row - 1]!;
        firsts[slice] = first;
        spans[slice] = last - first;
        if (first < oldest) oldest = first;
        if (last > newest) newest = last;
      }
      return { oldest, newest };
    },
  };
  return table;
}

export type SliceTable = ReturnType<typeof createSliceTable>;
