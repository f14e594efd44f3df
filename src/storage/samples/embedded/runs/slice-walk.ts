// Slice walk: the slices of many devices in one run; each page is decoded once.
import type { EpochMs } from '../../../../model/instant.ts';
import type { RowGroup } from '../rows/rows.ts';
import { lowerBound } from './packed-block.ts';
import { pageRowsMax } from './page-format.ts';
import {
  type IntColumn,
  type PageSlices,
  readScaled,
  type SliceStatistics,
} from './page-reader.ts';
import type { PageSections } from './page-sections.ts';
import type { RunFile } from './run-file.ts';
import { firstPageOf } from './run-index.ts';

interface SliceWalkParts {
  readonly run: RunFile;
  readonly sections: PageSections;
  /** The slice of a page as a group. */
  readonly groupOf: (page: number, slices: PageSlices, slice: number) => RowGroup;
  /** A page that cannot be read. */
  readonly damagedPage: (page: number) => RowGroup;
}

/** Where the statistics of slices are: in those of the page, or in its values where it has none. */
interface Measured {
  readonly statistics: SliceStatistics | undefined;
  readonly column: IntColumn | undefined;
}

const nothingMeasured: Measured = { statistics: undefined, column: undefined };

/** The values of one slice, used again for the next. */
const scaled = new Float64Array(pageRowsMax);

/** Quick for devices in the order of their numbers. A class, because a query asks for each device and run. */
export class SliceWalk {
  /** The slices of the page at hand; undefined when they cannot be read. */
  slices: PageSlices | undefined;
  /** Those of the device are from `first` on and before `end`. */
  first = 0;
  end = 0;
  /** Of the slice that `measure` was called for. */
  sum = 0;
  min = 0;
  max = 0;
  readonly #parts: SliceWalkParts;
  readonly #from: EpochMs;
  readonly #to: EpochMs;
  /** The numeric column that is measured. */
  readonly #column: number;
  #device = -1;
  /** The page at hand. */
  #page = -1;
  #measured: Measured | undefined;
  #next = 0;

  /** Pages without rows from `from` on and before `to` are skipped. */
  constructor(parts: SliceWalkParts, column: number, from: EpochMs, to: EpochMs) {
    this.#parts = parts;
    this.#column = column;
    this.#from = from;
    this.#to = to;
  }

  /** Goes before the first page that can have slices of the device. */
  seek(device: number): void {
    const { index } = this.#parts.run;
    const page = this.#page;
    if (device <= this.#device || page < 0) this.#next = firstPageOf(index, device);
    else if (index.lastDevices[page]! >= device) this.#next = page;
    else this.#next = firstPageOf(index, device, page + 1);
    this.#device = device;
  }

  /** Goes to the next page that can have slices of the device; false without one. */
  nextPage(): boolean {
    const { head, firstDevices, oldest, newest } = this.#parts.run.index;
    for (; this.#next < head.pages && firstDevices[this.#next]! <= this.#device; this.#next++) {
      const page = this.#next;
      if (newest[page]! < this.#from || oldest[page]! >= this.#to) continue;
      this.#load(page);
      this.#next++;
      return true;
    }
    return false;
  }

  /** Sets `sum`, `min` and `max` of a slice of the page at hand; false when only its rows show them. */
  measure(slice: number): boolean {
    this.#measured ??= this.#measuredOf(this.#page);
    const { statistics, column } = this.#measured;
    if (statistics !== undefined) {
      this.sum = statistics.sums[slice]!;
      this.min = statistics.mins[slice]!;
      this.max = statistics.maxs[slice]!;
      return true;
    }
    if (column === undefined || this.slices === undefined) return false;
    this.#measureRows(readScaled(column, this.slices, slice, scaled), column.power);
    return true;
  }

  /** A slice of the page at hand as a group. */
  group(slice: number): RowGroup {
    const { groupOf, damagedPage } = this.#parts;
    if (this.slices === undefined) return damagedPage(this.#page);
    return groupOf(this.#page, this.slices, slice);
  }

  #measuredOf(page: number): Measured {
    const { sections } = this.#parts;
    const found = sections.guarded(page, (): Measured => {
      const statistics = sections.statistics(page, this.#column);
      if (statistics !== undefined) return { statistics, column: undefined };
      const column = sections.numbers(page, this.#column);
      // A plain sum is exact only of whole numbers.
      return { statistics: undefined, column: column.isWhole ? column : undefined };
    });
    return found ?? nothingMeasured;
  }

  #measureRows(length: number, power: number): void {
    let sum = 0;
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < length; i++) {
      const value = scaled[i]!;
      sum += value;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    this.sum = sum / power;
    this.min = min / power;
    this.max = max / power;
  }

  #load(page: number): void {
    if (page !== this.#page) {
      const { sections } = this.#parts;
      this.slices = sections.guarded(page, () => sections.slices(page));
      this.#page = page;
      this.#measured = undefined;
    }
    const { slices } = this;
    if (slices === undefined) {
      // One group represents the page.
      this.first = 0;
      this.end = 1;
      return;
    }
    this.first = lowerBound(slices.devices, this.#device);
    this.end = this.first;
    while (this.end < slices.count && slices.devices[this.end] === this.#device) this.end++;
  }
}
