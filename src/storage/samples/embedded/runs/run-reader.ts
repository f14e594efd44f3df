// Run reader: the slices of one device; reads and decodes only the sections that are needed.
import type { EpochMs } from '../../../../model/instant.ts';
import type { ChunkSchema } from '../chunks/chunk.ts';
import type { Origin, RowGroup } from '../rows/open-rows.ts';
import { lowerBound, type PageSlices } from './page.ts';
import { PageSections, type PageSectionsOptions, Slice, SliceWalk } from './slice-rows.ts';
import { firstPageOf, type RunFile } from './run-file.ts';

export class RunReader {
  /** Of the shape of the run. */
  readonly schema: ChunkSchema;
  readonly #run: RunFile;
  readonly #origins: readonly Origin[];
  readonly #sections: PageSections;
  readonly #least: number;
  readonly #greatest: number;
  readonly #groupOf = (page: number, slices: PageSlices, slice: number): Slice => {
    return new Slice({
      sections: this.#sections,
      slices,
      page,
      slice,
      sealed: this.#sections.placeOf(page),
      origins: this.#origins,
    });
  };
  readonly #damagedPage = (page: number): RowGroup => {
    return {
      sealed: this.#sections.placeOf(page),
      oldest: this.#run.index.oldest[page]!,
      newest: this.#run.index.newest[page]!,
      length: 0,
      visibleFrom: Number.NEGATIVE_INFINITY,
      sorted: () => undefined,
    };
  };

  constructor(
    options: PageSectionsOptions & {
      readonly origins: readonly Origin[];
    },
  ) {
    const { run, origins } = options;
    this.#run = run;
    this.#origins = origins;
    this.#sections = new PageSections(options);
    this.#least = this.#run.index.firstDevices[0] ?? Number.POSITIVE_INFINITY;
    this.#greatest = this.#run.index.lastDevices.at(-1) ?? Number.NEGATIVE_INFINITY;
    this.schema = options.schema;
  }

  get run(): RunFile {
    return this.#run;
  }

  /** In the order of the run's index. */
  get origins(): readonly Origin[] {
    return this.#origins;
  }

  /** Whether reading has met damage. */
  isDamaged(): boolean {
    return this.#sections.isAnyDamaged;
  }

  /** Slices of many devices between the times, with statistics of a column. */
  walk(column: number, from: EpochMs, to: EpochMs): SliceWalk {
    return new SliceWalk(
      this.#run,
      this.#sections,
      this.#groupOf,
      this.#damagedPage,
      column,
      from,
      to,
    );
  }

  /** False only when the run has no row of the device. */
  mayHave(device: number): boolean {
    // Asked for every run once for each device after a start; most answers need only the ends.
    if (device < this.#least || device > this.#greatest) return false;
    const page = firstPageOf(this.#run.index, device);
    return page < this.#run.index.head.pages && this.#run.index.firstDevices[page]! <= device;
  }

  /**
   * The slices of the device that may have rows from `from` on and before `to`, the oldest first.
   * A page whose slices cannot be read is one damaged group.
   */
  groupsOf(device: number, from: EpochMs, to: EpochMs): RowGroup[] {
    const found: RowGroup[] = [];
    if (this.#run.index.head.newest < from || this.#run.index.head.oldest >= to) return found;
    for (
      let page = firstPageOf(this.#run.index, device);
      page < this.#run.index.head.pages && this.#run.index.firstDevices[page]! <= device;
      page++
    ) {
      if (this.#run.index.newest[page]! < from || this.#run.index.oldest[page]! >= to) continue;
      const slices = this.#sections.guarded(page, () => this.#slicesOf(page, device, [from, to]));
      if (slices === undefined) found.push(this.#damagedPage(page));
      else found.push(...slices);
    }
    return found;
  }

  #slicesOf(page: number, device: number, times: readonly [EpochMs, EpochMs]): Slice[] {
    const [from, to] = times;
    const found: Slice[] = [];
    const slices = this.#sections.slices(page);
    const sealed = this.#sections.placeOf(page);
    for (
      let slice = lowerBound(slices.devices, device);
      slice < slices.count && slices.devices[slice] === device;
      slice++
    ) {
      const oldest = slices.firsts[slice]!;
      if (oldest >= to) break;
      if (oldest + slices.spans[slice]! < from) continue;
      found.push(
        new Slice({
          sections: this.#sections,
          slices,
          page,
          slice,
          sealed,
          origins: this.#origins,
        }),
      );
    }
    return found;
  }
}
