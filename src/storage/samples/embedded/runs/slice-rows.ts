// Slice rows: the rows of one slice of a run as columns, each decoded when it is first asked for through a cache of sections.
import type { DataShape } from '../../../log/data-shape.ts';
import { type ChunkSchema, DamagedChunk } from '../chunks/chunk.ts';
import type { EpochMs } from '../../../../model/instant.ts';
import type { Column, Origin, RowGroup, Rows, SealedPlace, SortedRows } from '../rows/open-rows.ts';
import {
  columnKindOf,
  fixedPageSections,
  IntColumn,
  lowerBound,
  PackedBlock,
  pageRowsMax,
  pageSections,
  PageSlices,
  SliceStatistics,
  TextColumn,
} from './page.ts';
import { firstPageOf, type RunFile, sectionPlace } from './run-file.ts';
import { missing } from '../../../../structures/missing.ts';

/** With more origins, those of the slice are read. */
const originsCompared = 64;

/** Where a slice is. */
interface SlicePlace {
  readonly sections: PageSections;
  readonly slices: PageSlices;
  readonly page: number;
  readonly slice: number;
  readonly sealed: SealedPlace;
  /** In the order of the run's index. */
  readonly origins: readonly Origin[];
}

/** The rows of one device and UTC day, or a part of them. A class, because a query of many devices makes many. */
export class Slice implements RowGroup {
  readonly oldest: EpochMs;
  readonly newest: EpochMs;
  readonly length: number;
  readonly #place: SlicePlace;
  #rows: SliceRows | undefined;

  constructor(place: SlicePlace) {
    const { slices, slice } = place;
    this.#place = place;
    this.oldest = slices.firsts[slice]!;
    this.newest = this.oldest + slices.spans[slice]!;
    this.length = slices.starts[slice + 1]! - slices.starts[slice]!;
  }

  get shape(): DataShape {
    return this.#place.sections.shape;
  }

  get schema(): ChunkSchema {
    return this.#place.sections.schema;
  }

  get sealed(): SealedPlace {
    return this.#place.sealed;
  }

  /** Reads the origins where retention hides some of the rows of the run. Throws DamagedChunk. */
  get visibleFrom(): EpochMs {
    const { origins } = this.#place;
    const [first] = origins;
    if (
      origins.length <= originsCompared &&
      origins.every(({ keepFrom }) => keepFrom === first?.keepFrom)
    )
      return first?.keepFrom ?? Number.NEGATIVE_INFINITY;
    let least = Number.POSITIVE_INFINITY;
    for (const id of this.#read().originIds) least = Math.min(least, origins[id]!.keepFrom);
    return least;
  }

  /** Undefined when the times of the rows, or the origins where they matter, cannot be read. */
  sorted(): SortedRows | undefined {
    return this.sealed.guarded(() => {
      const rows = this.#read();
      const { timestamps } = rows;
      void this.visibleFrom;
      return new SliceOrder(rows, timestamps);
    });
  }

  /** Sum, least and greatest value of a numeric column by its place in the shape; undefined where the page has none. Throws DamagedChunk. */
  statistics(column: number):
    | {
        readonly sum: number;
        readonly min: number;
        readonly max: number;
      }
    | undefined {
    const { sections, page, slice } = this.#place;
    const found = sections.statistics(page, column);
    if (found === undefined) return undefined;
    const { sums, mins, maxs } = found;
    return { sum: sums[slice]!, min: mins[slice]!, max: maxs[slice]! };
  }

  /** The number of rows of each origin. Throws DamagedChunk. */
  rowsByOrigin(): number[] {
    const counts = this.#place.origins.map(() => 0);
    for (const id of this.#read().originIds) counts[id]!++;
    return counts;
  }

  #read(): SliceRows {
    this.#rows ??= new SliceRows(this.#place);
    return this.#rows;
  }
}

/** Rows of a slice are in the order of time. */
class SliceOrder implements SortedRows {
  readonly rows: SliceRows;
  readonly length: number;
  readonly timestamps: Float64Array;
  readonly permutation = undefined;

  constructor(rows: SliceRows, timestamps: Float64Array) {
    this.rows = rows;
    this.length = rows.length;
    this.timestamps = timestamps;
  }

  get orders(): Float64Array {
    return this.rows.orders;
  }
}

/** Every member throws DamagedChunk. */
class SliceRows implements Rows {
  readonly length: number;
  readonly shapes: readonly DataShape[];
  readonly shapeIds = undefined;
  readonly shapeColumns: readonly (readonly number[])[];
  readonly columns: readonly Column[];
  readonly origins: readonly Origin[];
  readonly #place: SlicePlace;
  #timestamps: Float64Array | undefined;
  #orders: Float64Array | undefined;
  #originIds: Uint16Array | undefined;
  #metas: readonly (string | undefined)[] | undefined;

  constructor(place: SlicePlace) {
    const { slices, slice, sections } = place;
    this.#place = place;
    this.length = slices.starts[slice + 1]! - slices.starts[slice]!;
    this.shapes = sections.schema.shapes;
    this.shapeColumns = sections.schema.shapeColumns;
    this.columns = sections.shape.leaves.map((_, i) => new SliceColumn(place, i));
    this.origins = place.origins;
  }

  get timestamps(): Float64Array {
    if (this.#timestamps === undefined) {
      const { slices, slice, page, sections } = this.#place;
      const timestamps = new Float64Array(this.length);
      slices.readTimes(sections.times(page), slice, timestamps);
      this.#timestamps = timestamps;
    }
    return this.#timestamps;
  }

  get orders(): Float64Array {
    this.#orders ??= this.#scaled(this.#place.sections.orders(this.#place.page));
    return this.#orders;
  }

  get originIds(): Uint16Array {
    this.#originIds ??= Uint16Array.from(
      this.#scaled(this.#place.sections.origins(this.#place.page)),
    );
    return this.#originIds;
  }

  get metas(): readonly (string | undefined)[] | undefined {
    if (this.#metas !== undefined) return this.#metas;
    const { slices, slice, page, sections } = this.#place;
    const metas = sections.metas(page);
    if (metas === undefined) return undefined;
    const first = slices.starts[slice]!;
    this.#metas = Array.from({ length: this.length }, (_, i) => {
      const text = metas.texts[metas.ids.at(first + i)];
      return text === '' ? undefined : text;
    });
    return this.#metas;
  }

  #scaled(column: IntColumn): Float64Array {
    const { slices, slice } = this.#place;
    const values = new Float64Array(this.length);
    column.readScaled(slices, slice, values);
    return values;
  }
}

class SliceColumn implements Column {
  readonly path: readonly string[];
  readonly kind: Column['kind'];
  readonly #place: SlicePlace;
  readonly #column: number;
  #numbers: Float64Array | undefined;
  #ids: Float64Array | undefined;

  constructor(place: SlicePlace, column: number) {
    const leaf = place.sections.shape.leaves[column]!;
    this.path = leaf.path;
    this.kind = leaf.kind;
    this.#place = place;
    this.#column = column;
  }

  get numbers(): Float64Array {
    if (this.#numbers === undefined) {
      const { slices, slice, page, sections } = this.#place;
      const column = sections.numbers(page, this.#column);
      const values = new Float64Array(slices.starts[slice + 1]! - slices.starts[slice]!);
      const length = column.readScaled(slices, slice, values);
      if (column.power > 1) for (let i = 0; i < length; i++) values[i] = values[i]! / column.power;
      this.#numbers = values;
    }
    return this.#numbers;
  }

  get ids(): Float64Array {
    if (this.#ids === undefined) {
      const { slices, slice } = this.#place;
      const first = slices.starts[slice]!;
      this.#ids = new Float64Array(slices.starts[slice + 1]! - first);
      this.#texts().ids.read(first, this.#ids.length, this.#ids, 0);
    }
    return this.#ids;
  }

  get texts(): readonly string[] {
    return columnKindOf(this.kind) === 'text' ? this.#texts().texts : [];
  }

  #texts(): TextColumn {
    return this.#place.sections.texts(this.#place.page, this.#column);
  }
}

// Slice walk: the slices of many devices in one run; each page is decoded once.

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
  readonly #run: RunFile;
  readonly #sections: PageSections;
  /** The slice of a page as a group. */
  readonly #groupOf: (page: number, slices: PageSlices, slice: number) => RowGroup;
  /** A page that cannot be read. */
  readonly #damagedPage: (page: number) => RowGroup;
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
  constructor(
    run: RunFile,
    sections: PageSections,
    groupOf: (page: number, slices: PageSlices, slice: number) => RowGroup,
    damagedPage: (page: number) => RowGroup,
    column: number,
    from: EpochMs,
    to: EpochMs,
  ) {
    this.#run = run;
    this.#sections = sections;
    this.#groupOf = groupOf;
    this.#damagedPage = damagedPage;
    this.#column = column;
    this.#from = from;
    this.#to = to;
  }

  /** Goes before the first page that can have slices of the device. */
  seek(device: number): void {
    const { index } = this.#run;
    const page = this.#page;
    if (device <= this.#device || page < 0) this.#next = firstPageOf(index, device);
    else if (index.lastDevices[page]! >= device) this.#next = page;
    else this.#next = firstPageOf(index, device, page + 1);
    this.#device = device;
  }

  /** Goes to the next page that can have slices of the device; false without one. */
  nextPage(): boolean {
    const { head, firstDevices, oldest, newest } = this.#run.index;
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
    this.#measureRows(column.readScaled(this.slices, slice, scaled), column.power);
    return true;
  }

  /** A slice of the page at hand as a group. */
  group(slice: number): RowGroup {
    const groupOf = this.#groupOf;
    const damagedPage = this.#damagedPage;
    if (this.slices === undefined) return damagedPage(this.#page);
    return groupOf(this.#page, this.slices, slice);
  }

  #measuredOf(page: number): Measured {
    const sections = this.#sections;
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
      const sections = this.#sections;
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

// Page sections: the decoded sections of the pages of one run through the cache, and which pages turned out damaged.

/** Keys of the cache: a number for the run, then the page, then the section. */
const pagesMax = 2 ** 20;
const sectionsMax = 2 ** 10;

export interface PageSectionsOptions {
  readonly run: RunFile;
  /** Of the shape of the run. */
  readonly schema: ChunkSchema;
  readonly cache: SectionCache;
  /** No other run of the cache has the same. */
  readonly runNumber: number;
  /** Called once for each page that turns out damaged. */
  readonly damaged: (error: DamagedChunk) => void;
}

/** Every reading of a section throws DamagedChunk. A class, because each slice that is read goes through it. */
export class PageSections {
  readonly shape: DataShape;
  readonly schema: ChunkSchema;
  readonly #options: PageSectionsOptions;
  readonly #damaged = new Set<number>();

  constructor(options: PageSectionsOptions) {
    this.#options = options;
    this.shape = options.schema.shapes[0] ?? missing('shape of a run');
    this.schema = options.schema;
  }

  slices(page: number): PageSlices {
    return this.#needed(page, pageSections.slices, slicesOf);
  }

  times(page: number): PackedBlock {
    return this.#needed(page, pageSections.times, packedBlock);
  }

  orders(page: number): IntColumn {
    return this.#needed(page, pageSections.orders, intColumn);
  }

  origins(page: number): IntColumn {
    return this.#needed(page, pageSections.origins, intColumn);
  }

  metas(page: number): TextColumn | undefined {
    return this.#decoded(page, pageSections.metas, textColumn);
  }

  numbers(page: number, column: number): IntColumn {
    return this.#needed(page, fixedPageSections + column, intColumn);
  }

  texts(page: number, column: number): TextColumn {
    return this.#needed(page, fixedPageSections + column, textColumn);
  }

  /** Undefined where the page has none. */
  statistics(page: number, column: number): SliceStatistics | undefined {
    const { leaves } = this.shape;
    const leaf = leaves[column];
    if (leaf === undefined) return undefined;
    const section = fixedPageSections + leaves.length + column;
    return this.#decoded(
      page,
      section,
      (content) => new SliceStatistics(content, columnKindOf(leaf.kind), this.slices(page)),
    );
  }

  get isAnyDamaged(): boolean {
    return this.#damaged.size > 0;
  }

  isDamaged(page: number): boolean {
    return this.#damaged.has(page);
  }

  /** What the reading gives; undefined when it meets damage. */
  guarded<T>(page: number, read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof DamagedChunk)) throw error;
      if (!this.#damaged.has(page)) this.#options.damaged(error);
      this.#damaged.add(page);
      return undefined;
    }
  }

  /** The page as a place of sealed rows. */
  placeOf(page: number): SealedPlace {
    return new PagePlace(this, page);
  }

  get fileName(): string {
    return this.#options.run.file.name;
  }

  #decoded<T extends object>(
    page: number,
    section: number,
    decode: (content: Uint8Array) => T,
  ): T | undefined {
    const { run, cache, runNumber } = this.#options;
    const { length } = sectionPlace(run.index, page, section);
    if (length === 0) return undefined;
    const key = (runNumber * pagesMax + page) * sectionsMax + section;
    return cache.get(key, length, () => {
      const content = run.section(page, section);
      if (content === undefined) throw this.#missing(page, section);
      return decode(content);
    });
  }

  #needed<T extends object>(page: number, section: number, decode: (content: Uint8Array) => T): T {
    const found = this.#decoded(page, section, decode);
    if (found === undefined) throw this.#missing(page, section);
    return found;
  }

  #missing(page: number, section: number): DamagedChunk {
    const { file } = this.#options.run;
    return new DamagedChunk(`Page ${page} of ${file.name} has no section ${section}`);
  }
}

class PagePlace implements SealedPlace {
  readonly #sections: PageSections;
  readonly #page: number;

  constructor(sections: PageSections, page: number) {
    this.#sections = sections;
    this.#page = page;
  }

  get place(): string {
    return `${this.#sections.fileName}, page ${this.#page}`;
  }

  get damaged(): boolean {
    return this.#sections.isDamaged(this.#page);
  }

  guarded<T>(read: () => T): T | undefined {
    return this.#sections.guarded(this.#page, read);
  }
}

function packedBlock(content: Uint8Array): PackedBlock {
  return new PackedBlock(content, 0);
}

const slicesOf = (content: Uint8Array) => new PageSlices(content);
const intColumn = (content: Uint8Array) => new IntColumn(content);
const textColumn = (content: Uint8Array) => new TextColumn(content);

// Section cache: decoded sections of pages, those not used recently evicted first, within a limit on their bytes.

interface CachedSection {
  readonly value: object;
  readonly bytes: number;
}

/**
 * A key always has values of the same type. What was not asked for while half of the limit was
 * filled again is evicted first: a value that is there is found without changing the order of
 * others.
 */
export class SectionCache {
  readonly #bytesMax: number;
  #recent = new Map<number, CachedSection>();
  #earlier = new Map<number, CachedSection>();
  #recentBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * The value of the key; `make` makes it when it is not in the cache. `bytes` is what it counts
   * as.
   */
  get<T extends object>(key: number, bytes: number, make: () => T): T {
    const found = this.#recent.get(key);
    if (found !== undefined) return found.value as T;
    const section = this.#earlier.get(key) ?? { value: make(), bytes };
    this.#keep(key, section);
    return section.value as T;
  }

  clear(): void {
    this.#recent = new Map();
    this.#earlier = new Map();
    this.#recentBytes = 0;
  }

  #keep(key: number, section: CachedSection): void {
    if (this.#recentBytes + section.bytes > this.#bytesMax / 2) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
      this.#recentBytes = 0;
    }
    this.#recent.set(key, section);
    this.#recentBytes += section.bytes;
  }
}
