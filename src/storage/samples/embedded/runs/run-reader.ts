// Run reader: the slices of one device; reads and decodes only the sections that are needed.
import type { EpochMs } from '../../../../model/instant.ts';
import type { ChunkSchema } from '../chunks/chunk-schema.ts';
import type { Origin } from '../rows/origin.ts';
import type { RowGroup } from '../rows/rows.ts';
import { lowerBound } from './packed-block.ts';
import type { PageSlices } from './page-reader.ts';
import { PageSections, type PageSectionsOptions } from './page-sections.ts';
import type { RunFile } from './run-file.ts';
import { firstPageOf } from './run-index.ts';
import { Slice } from './slice-rows.ts';
import { SliceWalk } from './slice-walk.ts';

export interface RunReader {
  readonly run: RunFile;
  /** Of the shape of the run. */
  readonly schema: ChunkSchema;
  /** In the order of the run's index. */
  readonly origins: readonly Origin[];
  /**
   * The slices of the device that may have rows from `from` on and before `to`, the oldest first. A page whose slices cannot be read
   * is one damaged group.
   */
  readonly groupsOf: (device: number, from: EpochMs, to: EpochMs) => RowGroup[];
  /** Slices of many devices between the times, with statistics of a column. */
  readonly walk: (column: number, from: EpochMs, to: EpochMs) => SliceWalk;
  /** False only when the run has no row of the device. */
  readonly mayHave: (device: number) => boolean;
  /** Whether reading has met damage. */
  readonly isDamaged: () => boolean;
}

export interface RunReaderOptions extends PageSectionsOptions {
  readonly origins: readonly Origin[];
}

export function createRunReader(options: RunReaderOptions): RunReader {
  const { run, origins } = options;
  const { index } = run;
  const sections = new PageSections(options);
  const least = index.firstDevices[0] ?? Number.POSITIVE_INFINITY;
  const greatest = index.lastDevices.at(-1) ?? Number.NEGATIVE_INFINITY;

  function slicesOf(page: number, device: number, times: readonly [EpochMs, EpochMs]): Slice[] {
    const [from, to] = times;
    const found: Slice[] = [];
    const slices = sections.slices(page);
    const sealed = sections.placeOf(page);
    for (
      let slice = lowerBound(slices.devices, device);
      slice < slices.count && slices.devices[slice] === device;
      slice++
    ) {
      const oldest = slices.firsts[slice]!;
      if (oldest >= to) break;
      if (oldest + slices.spans[slice]! < from) continue;
      found.push(new Slice({ sections, slices, page, slice, sealed, origins }));
    }
    return found;
  }

  function groupOf(page: number, slices: PageSlices, slice: number): Slice {
    return new Slice({ sections, slices, page, slice, sealed: sections.placeOf(page), origins });
  }

  function damagedPage(page: number): RowGroup {
    return {
      sealed: sections.placeOf(page),
      oldest: index.oldest[page]!,
      newest: index.newest[page]!,
      length: 0,
      visibleFrom: Number.NEGATIVE_INFINITY,
      sorted: () => undefined,
    };
  }

  return {
    run,
    schema: options.schema,
    origins,
    isDamaged: () => sections.isAnyDamaged,
    walk: (column, from, to) =>
      new SliceWalk({ run, sections, groupOf, damagedPage }, column, from, to),
    mayHave: (device) => {
      // Asked for every run once for each device after a start; most answers need only the ends.
      if (device < least || device > greatest) return false;
      const page = firstPageOf(index, device);
      return page < index.head.pages && index.firstDevices[page]! <= device;
    },
    groupsOf: (device, from, to) => {
      const found: RowGroup[] = [];
      if (index.head.newest < from || index.head.oldest >= to) return found;
      for (
        let page = firstPageOf(index, device);
        page < index.head.pages && index.firstDevices[page]! <= device;
        page++
      ) {
        if (index.newest[page]! < from || index.oldest[page]! >= to) continue;
        const slices = sections.guarded(page, () => slicesOf(page, device, [from, to]));
        if (slices === undefined) found.push(damagedPage(page));
        else found.push(...slices);
      }
      return found;
    },
  };
}
