// Page sections: the decoded sections of the pages of one run through the cache, and which pages turned out damaged.
import type { DataShape } from '../../../log/data-shape.ts';
import { DamagedChunk } from '../chunks/chunk.ts';
import type { ChunkSchema } from '../chunks/chunk-schema.ts';
import type { SealedPlace } from '../rows/rows.ts';
import { PackedBlock } from './packed-block.ts';
import { columnKindOf, fixedPageSections, pageSections } from './page-format.ts';
import {
  type IntColumn,
  type PageSlices,
  readIntColumn,
  readSlices,
  readStatistics,
  readTextColumn,
  type SliceStatistics,
  type TextColumn,
} from './page-reader.ts';
import { type RunFile, sectionPlace } from './run-file.ts';
import { missing } from '../../../../structures/missing.ts';

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
    return this.#needed(page, pageSections.slices, readSlices);
  }

  times(page: number): PackedBlock {
    return this.#needed(page, pageSections.times, packedBlock);
  }

  orders(page: number): IntColumn {
    return this.#needed(page, pageSections.orders, readIntColumn);
  }

  origins(page: number): IntColumn {
    return this.#needed(page, pageSections.origins, readIntColumn);
  }

  metas(page: number): TextColumn | undefined {
    return this.#decoded(page, pageSections.metas, readTextColumn);
  }

  numbers(page: number, column: number): IntColumn {
    return this.#needed(page, fixedPageSections + column, readIntColumn);
  }

  texts(page: number, column: number): TextColumn {
    return this.#needed(page, fixedPageSections + column, readTextColumn);
  }

  /** Undefined where the page has none. */
  statistics(page: number, column: number): SliceStatistics | undefined {
    const { leaves } = this.shape;
    const leaf = leaves[column];
    if (leaf === undefined) return undefined;
    const section = fixedPageSections + leaves.length + column;
    return this.#decoded(page, section, (content) =>
      readStatistics(content, columnKindOf(leaf.kind), this.slices(page)),
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
