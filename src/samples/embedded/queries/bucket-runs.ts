// Bucket runs: tallies of devices from the statistics of runs, and the groups that have to be read.
import type { EpochMs } from '../../../model/instant.ts';
import { missing } from '../../../structures/missing.ts';
import type { ValueKind } from '../../../summaries/facet.ts';
import { columnsOfKey, isNumeric } from '../chunks/chunk-schema.ts';
import type { ShapeTable } from '../memtables/shape-table.ts';
import type { RowGroup } from '../rows/rows.ts';
import type { RunReader } from '../runs/run-reader.ts';
import type { SliceWalk } from '../runs/slice-walk.ts';
import {
  bucketOf,
  type BucketPlan,
  edgeAt,
  type Tallies,
  tallyAt,
  valueKindOf,
} from './bucket-rows.ts';

/** Where the values of the key are in the runs of a table. */
interface KeyInRuns {
  readonly column: number;
  readonly kind: ValueKind;
  /** Whether values are only counted. */
  readonly isCounted: boolean;
}

/** What a query knows of a table. */
interface WalkedTable {
  /** Undefined when the groups of the table have to be read. */
  readonly key: KeyInRuns | 'none' | undefined;
  readonly runs: Map<RunReader, WalkedRun>;
}

interface WalkedRun {
  readonly walk: SliceWalk;
  /** From then on every row may be read. */
  readonly visibleFrom: EpochMs;
}

/** Of one query. Quick for devices in the order of their numbers. */
export class RunTallies {
  readonly #plan: BucketPlan;
  readonly #tables = new Map<ShapeTable, WalkedTable>();
  /** Used again for each slice. */
  readonly #statistics = { kind: 'number' as ValueKind, count: 0, sum: 0, min: 0, max: 0 };

  constructor(plan: BucketPlan) {
    this.#plan = plan;
  }

  /** Adds what the statistics of the runs say of the device; returns the groups that have to be read. */
  add(tallies: Tallies, table: ShapeTable, device: number): RowGroup[] {
    const { from, to } = this.#plan;
    const unread: RowGroup[] = [];
    for (const { reader } of table.runs) {
      const { head } = reader.run.index;
      if (head.newest < from || head.oldest >= to) continue;
      const { key, runs } = this.#tableOf(table, reader);
      if (key === 'none') break;
      if (key === undefined) unread.push(...reader.groupsOf(device, from, to));
      else this.#addRun(tallies, { key, device, unread }, this.#runOf(runs, reader, key));
    }
    return unread;
  }

  #addRun(
    tallies: Tallies,
    { key, device, unread }: { key: KeyInRuns; device: number; unread: RowGroup[] },
    run: WalkedRun,
  ): void {
    const { walk } = run;
    walk.seek(device);
    while (walk.nextPage())
      for (let slice = walk.first; slice < walk.end; slice++)
        if (!this.#addSlice(tallies, key, run, slice)) unread.push(walk.group(slice));
  }

  /** Returns whether nothing of the slice has to be read. */
  #addSlice(
    tallies: Tallies,
    { kind, isCounted }: KeyInRuns,
    { walk, visibleFrom }: WalkedRun,
    slice: number,
  ): boolean {
    const { slices } = walk;
    if (slices === undefined) return false;
    const { edges, facet, from, to } = this.#plan;
    const oldest = slices.firsts[slice]!;
    const newest = oldest + slices.spans[slice]!;
    if (newest < from || oldest >= to) return true;
    if (oldest < from || oldest < visibleFrom) return false;
    const bucket = bucketOf(edges, oldest);
    if (newest >= edgeAt(edges, bucket + 1)) return false;
    if (!isCounted && !walk.measure(slice)) return false;
    const tally = tallyAt(tallies, facet, bucket);
    const count = slices.starts[slice + 1]! - slices.starts[slice]!;
    tally.count += count;
    if (isCounted) return true;
    const statistics = this.#statistics;
    statistics.kind = kind;
    statistics.count = count;
    statistics.sum = walk.sum;
    statistics.min = walk.min;
    statistics.max = walk.max;
    facet.fromStatistics?.(tally, statistics);
    return true;
  }

  #tableOf(table: ShapeTable, reader: RunReader): WalkedTable {
    let found = this.#tables.get(table);
    if (found === undefined) {
      found = { key: this.#keyOf(table, reader), runs: new Map() };
      this.#tables.set(table, found);
    }
    return found;
  }

  #keyOf({ shape }: ShapeTable, { schema }: RunReader): WalkedTable['key'] {
    const { facet, dataKey } = this.#plan;
    // What such a facet has to read depends on what it read before.
    if (facet.isSettled !== undefined) return undefined;
    const columns = columnsOfKey(schema, dataKey);
    if (columns === undefined || columns.length > 1) return undefined;
    const [found] = columns;
    if (found === undefined) return 'none';
    const { column } = found;
    const { kind: leafKind } = shape.leaves[column] ?? missing('column of a key');
    const kind = valueKindOf(leafKind);
    const isCounted = !facet.reads(kind);
    const isKnown = isCounted || (facet.fromStatistics !== undefined && isNumeric(leafKind));
    return isKnown ? { column, kind, isCounted } : undefined;
  }

  #runOf(runs: WalkedTable['runs'], reader: RunReader, { column }: KeyInRuns): WalkedRun {
    const known = runs.get(reader);
    if (known !== undefined) return known;
    const { from, to } = this.#plan;
    let visibleFrom = Number.NEGATIVE_INFINITY;
    for (const { keepFrom } of reader.origins) visibleFrom = Math.max(visibleFrom, keepFrom);
    const run = { walk: reader.walk(column, from, to), visibleFrom };
    runs.set(reader, run);
    return run;
  }
}
