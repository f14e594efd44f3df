// Bucket query: tallies from the chunks, runs and unsealed rows of each device, in slices of time, so that other work is not delayed.
import { type EpochMs, hourMs } from '../../../../model/instant.ts';
import { missing } from '../../../../structures/missing.ts';
import { accumulatorOf } from '../../../../query/summaries/accumulators.ts';
import type { ValueKind } from '../../../../query/summaries/facet.ts';
import type { BucketRequest } from '../../sample-store.ts';
import { refuseUnreadable } from '../../reported-reads.ts';
import { type Chunk, isNumeric } from '../chunks/chunk.ts';
import { columnsOfShapes } from '../../value-batches.ts';
import type { DecodedChunks } from './sealed-rows.ts';
import type { DeviceNumbers } from '../memtables/device-numbers.ts';
import type { ShapeTable } from '../memtables/shape-table.ts';
import type { ShapeTables } from '../memtables/shape-tables.ts';
import { type RowGroup, visibleFrom } from '../rows/open-rows.ts';
import { type Removal, type Removals, removalsWithin, withoutRemoved } from '../rows/removals.ts';
import { type Device, groupOfChunk, unreadableSamples } from '../rows/series.ts';
import type { RunReader } from '../runs/run-reader.ts';
import { Slice, type SliceWalk } from '../runs/slice-rows.ts';
import {
  addChunk,
  addRows,
  bucketOf,
  type BucketPlan,
  type ChunkRows,
  edgeAt,
  type Tallies,
  tallyAt,
  valueKindOf,
} from './bucket-chunks.ts';

/** A query works so long before others get their turn. */
const sliceMs = 8;
/** How many parts are worked on between two looks at the clock. */
const partsPerLook = 16;
/**
 * Values of chunks that several queries of this number of devices read are kept; values of more
 * devices would push each other out of memory.
 */
const devicesToKeep = 128;

export interface Slices {
  /** Milliseconds from any fixed moment on, never going back. */
  readonly clock: () => number;
  /** Lets everything else that waits come first. */
  readonly pause: () => Promise<void>;
}

/** The first and the last edge of a request, which has two at least. */
export function endsOf(edges: readonly EpochMs[]): { from: EpochMs; to: EpochMs } {
  return { from: edges[0] ?? missing('first edge'), to: edges.at(-1) ?? missing('last edge') };
}

interface BucketSources {
  readonly deviceOf: (id: string) => Device | undefined;
  readonly tables: ShapeTables;
  readonly decoded: DecodedChunks;
  readonly removals: Removals;
  readonly slices: Slices;
}

/** See the port's `buckets`. */
export async function queryBuckets(
  request: BucketRequest,
  sources: BucketSources,
): Promise<Tallies[]> {
  const { slices } = sources;
  const { edges, dataKey } = request;
  const { from, to } = endsOf(edges);
  const plan: BucketPlan = {
    dataKey,
    facet: accumulatorOf(request.accumulator).facet,
    edges,
    from,
    to,
    wholeHours: areWholeHours(edges),
  };
  const answers: Tallies[] = request.deviceIds.map(() =>
    new Array<undefined>(edges.length - 1).fill(undefined),
  );
  const runs = new RunTallies(plan);
  const { isReturning, keeping, passing, returning } = sources.decoded;
  const isKept = request.deviceIds.length <= devicesToKeep;
  const chunkRows = {
    decoded: sources.decoded,
    isReturning,
    hoursOf: keeping,
    rowsOf: isKept ? returning : passing,
  };
  let sliceEnds = slices.clock() + sliceMs;
  let worked = 0;
  const isTurnOver = (): boolean => ++worked % partsPerLook === 0 && slices.clock() >= sliceEnds;
  const pause = async (): Promise<void> => {
    await slices.pause();
    sliceEnds = slices.clock() + sliceMs;
  };
  for (const place of inOrderOfNumbers(request.deviceIds, sources.tables.numbers)) {
    const id = request.deviceIds[place] ?? missing('device of a query');
    const tallies = answers[place] ?? missing('answer of a device');
    for (const part of partsOf(id, request.topic, { tallies, plan, runs }, sources)) {
      // A number without some of its values would be wrong; one that needs nothing of what is
      // damaged is right.
      if (!addPart(tallies, part, plan, chunkRows))
        refuseUnreadable(unreadableSamples(id, request.topic, groupOf(part, sources)));
      if (isTurnOver()) await pause();
    }
    if (isTurnOver()) await pause();
  }
  return answers;
}

type Part = Chunk | RowGroup;

/**
 * What the device has within the plan and has to be read; adds what statistics of runs say. Taken together: rows that are sealed
 * while the query pauses would be in no part or in two otherwise.
 */
function partsOf(
  deviceId: string,
  topic: string,
  { tallies, plan, runs }: { tallies: Tallies; plan: BucketPlan; runs: RunTallies },
  { deviceOf, tables, removals: allRemovals, decoded }: BucketSources,
): Part[] {
  const { from, to } = plan;
  const removals = allRemovals.of(deviceId);
  const groups: RowGroup[] = [];
  const device = tables.numbers.numberOf(deviceId);
  if (device !== undefined)
    for (const table of tables.withRowsOf(device)) {
      if (table.topic !== topic) continue;
      if (removals !== undefined) {
        groups.push(...remaining(table.groupsOf(device, from, to), topic, removals));
        continue;
      }
      groups.push(...runs.add(tallies, table, device));
      groups.push(...table.unsealedGroupsOf(device, from, to));
    }
  const series = deviceOf(deviceId)?.topics.get(topic);
  if (series === undefined) return inHelpfulOrder(groups, plan);
  if (removals !== undefined) {
    const chunks = series
      .chunksBetween(from, to)
      .flatMap((chunk): Part[] =>
        removalsWithin(removals, topic, chunk.oldest, chunk.newest).length === 0
          ? [chunk]
          : remaining([groupOfChunk(chunk, decoded)], topic, removals),
      );
    const unsealed = remaining(series.unsealedBetween(from, to), topic, removals);
    return [...groups, ...chunks, ...unsealed];
  }
  const chunks = inHelpfulOrder(series.chunksBetween(from, to), plan);
  return [...chunks, ...series.unsealedBetween(from, to), ...inHelpfulOrder(groups, plan)];
}

/** Statistics and hours of a group count removed rows, so that its rows are read. */
function remaining(
  groups: readonly RowGroup[],
  topic: string,
  removals: readonly Removal[],
): RowGroup[] {
  return groups.flatMap((group) => withoutRemoved(group, topic, removals) ?? []);
}

const onePlace = Uint32Array.of(0);

/** The places of the ids, by the numbers of the devices: neighbors share pages of runs. */
function inOrderOfNumbers(ids: readonly string[], known: DeviceNumbers): Uint32Array {
  if (ids.length === 1) return onePlace;
  const numbers = Float64Array.from(ids, (id) => known.numberOf(id) ?? Number.POSITIVE_INFINITY);
  return Uint32Array.from(ids.keys()).sort((a, b) => numbers[a]! - numbers[b]! || a - b);
}

function groupOf(part: Part, { decoded }: BucketSources): RowGroup {
  return isChunk(part) ? groupOfChunk(part, decoded) : part;
}

function isChunk(part: Part): part is Chunk {
  return 'originRows' in part;
}

type PartSources = ChunkRows & Pick<BucketSources, 'decoded'>;

/** Returns whether the part can be read. */
function addPart(tallies: Tallies, part: Part, plan: BucketPlan, sources: PartSources): boolean {
  if (isChunk(part)) return addSealedChunk(tallies, part, plan, sources);
  if (part.sealed === undefined) {
    return addUnsealed(tallies, part, plan);
  }
  const isRead = part.sealed.guarded(() => {
    const visible = planFrom(plan, part.oldest, part.visibleFrom);
    if (visible === undefined) return true;
    if (part instanceof Slice) return addSlice(tallies, part, visible);
    return addUnsealed(tallies, part, visible);
  });
  return isRead === true;
}

function addSealedChunk(
  tallies: Tallies,
  chunk: Chunk,
  plan: BucketPlan,
  { decoded, ...rows }: PartSources,
): boolean {
  const visible = planFrom(plan, chunk.oldest, visibleFrom(chunk.origins));
  if (visible === undefined) return true;
  const isRead = decoded.guarded(chunk, () => {
    addChunk(tallies, chunk, visible, rows);
    return true;
  });
  return isRead === true;
}

/** Rows in memory, or what is left of a group; returns whether they can be read. */
function addUnsealed(tallies: Tallies, group: RowGroup, plan: BucketPlan): boolean {
  const visible = planFrom(plan, group.oldest, group.visibleFrom);
  if (visible === undefined) return true;
  const sorted = group.sorted();
  if (sorted === undefined) return false;
  const { shapes, shapeColumns } = sorted.rows;
  addRows(tallies, sorted, visible, columnsOfShapes(shapes, shapeColumns, plan.dataKey));
  return true;
}

/**
 * The plan for rows from `oldest` on that may be read from a time on only; undefined when none of
 * them may.
 */
function planFrom(plan: BucketPlan, oldest: EpochMs, from: EpochMs): BucketPlan | undefined {
  if (oldest >= from) return plan;
  if (plan.to <= from) return undefined;
  const edges = plan.edges.map((edge) => Math.max(edge, from));
  return {
    ...plan,
    edges,
    from: Math.max(plan.from, from),
    wholeHours: areWholeHours(edges),
  };
}

/** Of the edges between the first and the last, which may cut an hour. */
function areWholeHours(edges: readonly EpochMs[]): boolean {
  for (let i = 1; i < edges.length - 1; i++) if (edgeAt(edges, i) % hourMs !== 0) return false;
  return true;
}

/**
 * A facet that can be settled gets the outermost groups first: those between may then be left
 * unread.
 */
function inHelpfulOrder<T>(groups: T[], { facet }: BucketPlan): T[] {
  if (facet.isSettled === undefined || groups.length < 3) return groups;
  return [...groups.slice(0, 1), ...groups.slice(-1), ...groups.slice(1, -1)];
}

// Bucket slices: tallies of runs, from the statistics of a slice or from its rows.

/** Adds what the slice has within the edges; returns whether it can be read. Throws DamagedChunk. */
function addSlice(tallies: Tallies, slice: Slice, plan: BucketPlan): boolean {
  const keyColumns = slice.schema.columnsOfKey(plan.dataKey);
  const unread = keyColumns?.filter(({ column }) => !addStatistics(tallies, slice, plan, column));
  if (unread?.length === 0) return true;
  const sorted = slice.sorted();
  if (sorted === undefined) return false;
  addRows(tallies, sorted, plan, unread);
  return true;
}

/** Returns whether the statistics of the slice were enough. */
function addStatistics(
  tallies: Tallies,
  slice: Slice,
  { edges, facet, from, to }: BucketPlan,
  column: number,
): boolean {
  const { oldest, newest, length: count } = slice;
  if (oldest < from || newest >= to) return false;
  const bucket = bucketOf(edges, oldest);
  if (newest >= edgeAt(edges, bucket + 1)) return false;
  const leafKind = slice.shape.leaves[column]?.kind;
  if (leafKind === undefined) return false;
  const kind = valueKindOf(leafKind);
  const known = tallies[bucket];
  const isCountEnough =
    !facet.reads(kind) || (known !== undefined && facet.isSettled?.(known, oldest, newest));
  if (isCountEnough) {
    tallyAt(tallies, facet, bucket).count += count;
    return true;
  }
  if (facet.fromStatistics === undefined || !isNumeric(leafKind)) return false;
  const statistics = slice.statistics(column);
  if (statistics === undefined) return false;
  const tally = tallyAt(tallies, facet, bucket);
  tally.count += count;
  facet.fromStatistics(tally, { kind, count, ...statistics });
  return true;
}

// Bucket runs: tallies of devices from the statistics of runs, and the groups that have to be read.

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
class RunTallies {
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
    const columns = schema.columnsOfKey(dataKey);
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
