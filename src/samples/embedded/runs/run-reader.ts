// Run reader: the slices of one device in a run as groups of rows; only the sections that a reader asks for are read and decoded.
import type { DataShape } from '../../../log/data-shape.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { DamagedChunk } from '../chunks/chunk.ts';
import type { Origin } from '../rows/origin.ts';
import type { Column, RowGroup, Rows, SortedRows } from '../rows/rows.ts';
import { lowerBound, PackedBlock } from './packed-block.ts';
import { columnKindOf, fixedPageSections, pageSections } from './page-format.ts';
import {
  type IntColumn,
  type PageSlices,
  readIntColumn,
  readScaled,
  readSlices,
  readStatistics,
  readTextColumn,
  readTimes,
  type SliceStatistics,
  type TextColumn,
} from './page-reader.ts';
import type { RunFile } from './run-file.ts';
import { firstPageOf, sectionPlace } from './run-index.ts';
import type { SectionCache } from './section-cache.ts';

/** Keys of the cache: a number for the run, then the page, then the section. */
const pagesMax = 2 ** 20;
const sectionsMax = 2 ** 10;

/** The rows of one device and UTC day, or a part of them. */
export interface SliceGroup extends RowGroup {
  /** Sum, least and greatest value of a column by its place in the shape; undefined where the page has none. Throws DamagedChunk. */
  readonly statistics: (column: number) => ColumnStatistics | undefined;
}

export interface ColumnStatistics {
  readonly sum: number;
  readonly min: number;
  readonly max: number;
}

export interface RunReader {
  readonly run: RunFile;
  readonly shape: DataShape;
  /** The slices of the device that may have rows from `from` on and before `to`, the oldest first. Throws DamagedChunk. */
  readonly groupsOf: (device: number, from: EpochMs, to: EpochMs) => SliceGroup[];
}

export interface RunReaderOptions {
  readonly run: RunFile;
  readonly shape: DataShape;
  /** In the order of the run's index. */
  readonly origins: readonly Origin[];
  readonly cache: SectionCache;
  /** No other run of the cache has the same. */
  readonly runNumber: number;
  /** Called when rows turn out unreadable, each time; the group has no rows then. */
  readonly damaged: (error: DamagedChunk) => void;
}

export function createRunReader(options: RunReaderOptions): RunReader {
  const { run, shape } = options;
  const { index } = run;
  const sections = createSections(options);

  function slicesOfPage(page: number, device: number, from: EpochMs, to: EpochMs): SliceGroup[] {
    const slices = sections.slices(page);
    const found: SliceGroup[] = [];
    for (
      let slice = lowerBound(slices.devices, device);
      slice < slices.count && slices.devices[slice] === device;
      slice++
    ) {
      const oldest = slices.firsts[slice]!;
      if (oldest >= to) break;
      if (oldest + slices.spans[slice]! < from) continue;
      found.push(createSliceGroup({ ...options, sections, slices, page, slice }));
    }
    return found;
  }

  return {
    run,
    shape,
    groupsOf: (device, from, to) => {
      const found: SliceGroup[] = [];
      if (index.head.newest < from || index.head.oldest >= to) return found;
      for (
        let page = firstPageOf(index, device);
        page < index.head.pages && index.firstDevices[page]! <= device;
        page++
      ) {
        if (index.newest[page]! < from || index.oldest[page]! >= to) continue;
        found.push(...slicesOfPage(page, device, from, to));
      }
      return found;
    },
  };
}

/** Decoded sections through the cache. Each throws DamagedChunk. */
function createSections({ run, shape, cache, runNumber }: RunReaderOptions) {
  const kinds = shape.leaves.map(({ kind }) => columnKindOf(kind));

  function decoded<T extends object>(
    page: number,
    section: number,
    decode: (content: Uint8Array) => T,
  ): T | undefined {
    const { length } = sectionPlace(run.index, page, section);
    if (length === 0) return undefined;
    const key = (runNumber * pagesMax + page) * sectionsMax + section;
    return cache.get(key, length, () => {
      const content = run.section(page, section);
      if (content === undefined) throw missing(page, section);
      return decode(content);
    });
  }

  function missing(page: number, section: number): DamagedChunk {
    return new DamagedChunk(`Page ${page} of ${run.file.name} has no section ${section}`);
  }

  function needed<T extends object>(
    page: number,
    section: number,
    decode: (content: Uint8Array) => T,
  ): T {
    const found = decoded(page, section, decode);
    if (found === undefined) throw missing(page, section);
    return found;
  }

  return {
    slices: (page: number): PageSlices => needed(page, pageSections.slices, readSlices),
    times: (page: number): PackedBlock =>
      needed(page, pageSections.times, (content) => new PackedBlock(content, 0)),
    orders: (page: number): IntColumn => needed(page, pageSections.orders, readIntColumn),
    origins: (page: number): IntColumn => needed(page, pageSections.origins, readIntColumn),
    metas: (page: number): TextColumn | undefined =>
      decoded(page, pageSections.metas, readTextColumn),
    numbers: (page: number, column: number): IntColumn =>
      needed(page, fixedPageSections + column, readIntColumn),
    texts: (page: number, column: number): TextColumn =>
      needed(page, fixedPageSections + column, readTextColumn),
    statistics: (page: number, column: number): SliceStatistics | undefined =>
      decoded(page, fixedPageSections + kinds.length + column, (content) =>
        readStatistics(
          content,
          kinds[column] ?? 'number',
          needed(page, pageSections.slices, readSlices),
        ),
      ),
  };
}

interface SliceParts extends RunReaderOptions {
  readonly sections: ReturnType<typeof createSections>;
  readonly slices: PageSlices;
  readonly page: number;
  readonly slice: number;
}

function createSliceGroup(parts: SliceParts): SliceGroup {
  const { slices, slice, page, sections, damaged } = parts;
  const oldest = slices.firsts[slice]!;
  let sorted: SortedRows | undefined;

  function readSorted(): SortedRows {
    const rows = new SliceRows(parts);
    const { length, timestamps, orders } = rows;
    return { rows, length, timestamps, orders, permutation: undefined };
  }

  return {
    oldest,
    newest: oldest + slices.spans[slice]!,
    length: slices.starts[slice + 1]! - slices.starts[slice]!,
    // Read with the rows: a run has rows of many origins.
    get visibleFrom() {
      const rows = sorted?.rows;
      return rows instanceof SliceRows ? rows.visibleFrom : Number.NEGATIVE_INFINITY;
    },
    sorted: () => {
      try {
        sorted ??= readSorted();
        return sorted;
      } catch (error) {
        if (!(error instanceof DamagedChunk)) throw error;
        damaged(error);
        return undefined;
      }
    },
    statistics: (column) => {
      const found = sections.statistics(page, column);
      return found && { sum: found.sum(slice), min: found.min(slice), max: found.max(slice) };
    },
  };
}

/** The rows of one slice as columns. Every member but `timestamps` and `orders` is decoded when it is first asked for. */
class SliceRows implements Rows {
  readonly length: number;
  readonly timestamps: Float64Array;
  readonly orders: Float64Array;
  readonly shapes: readonly DataShape[];
  readonly shapeIds = undefined;
  readonly shapeColumns: readonly (readonly number[])[];
  readonly columns: readonly Column[];
  readonly origins: readonly Origin[];
  readonly originIds: Uint16Array;
  readonly #parts: SliceParts;

  constructor(parts: SliceParts) {
    const { slices, slice, page, sections, shape } = parts;
    this.#parts = parts;
    this.length = slices.starts[slice + 1]! - slices.starts[slice]!;
    this.timestamps = new Float64Array(this.length);
    readTimes(sections.times(page), slices, slice, this.timestamps);
    this.orders = this.#scaled(sections.orders(page));
    this.shapes = [shape];
    this.shapeColumns = [shape.leaves.map((_, i) => i)];
    this.columns = shape.leaves.map((_, i) => new SliceColumn(parts, i));
    this.origins = parts.origins;
    this.originIds = Uint16Array.from(this.#scaled(sections.origins(page)));
  }

  get visibleFrom(): EpochMs {
    return this.originIds.reduce(
      (least, id) => Math.min(least, this.origins[id]!.keepFrom),
      Number.POSITIVE_INFINITY,
    );
  }

  get metas(): readonly (string | undefined)[] | undefined {
    const { slices, slice, page, sections } = this.#parts;
    const metas = sections.metas(page);
    if (metas === undefined) return undefined;
    const first = slices.starts[slice]!;
    return Array.from({ length: this.length }, (_, i) => {
      const text = metas.texts[metas.ids.at(first + i)];
      return text === '' ? undefined : text;
    });
  }

  #scaled(column: IntColumn): Float64Array {
    const { slices, slice } = this.#parts;
    const values = new Float64Array(this.length);
    readScaled(column, slices, slice, values);
    return values;
  }
}

class SliceColumn implements Column {
  readonly path: readonly string[];
  readonly kind: Column['kind'];
  readonly #parts: SliceParts;
  readonly #column: number;
  #numbers: Float64Array | undefined;
  #ids: Float64Array | undefined;

  constructor(parts: SliceParts, column: number) {
    const leaf = parts.shape.leaves[column]!;
    this.path = leaf.path;
    this.kind = leaf.kind;
    this.#parts = parts;
    this.#column = column;
  }

  get numbers(): Float64Array {
    if (this.#numbers === undefined) {
      const { slices, slice, page, sections } = this.#parts;
      const column = sections.numbers(page, this.#column);
      const values = new Float64Array(slices.starts[slice + 1]! - slices.starts[slice]!);
      const length = readScaled(column, slices, slice, values);
      if (column.power > 1) for (let i = 0; i < length; i++) values[i] = values[i]! / column.power;
      this.#numbers = values;
    }
    return this.#numbers;
  }

  get ids(): Float64Array {
    if (this.#ids === undefined) {
      const { slices, slice } = this.#parts;
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
    return this.#parts.sections.texts(this.#parts.page, this.#column);
  }
}
