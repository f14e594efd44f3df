// Bucket query: tallies from the chunks, runs and unsealed rows of each device, in slices of time, so that other work is not delayed.
import { accumulators } from '../../../summaries/accumulators.ts';
import { type EpochMs, hourMs } from '../../../model/instant.ts';
import type { BucketRequest } from '../../sample-store.ts';
import { addChunk } from './bucket-chunks.ts';
import { addRows, type BucketPlan, type Tallies } from './bucket-rows.ts';
import type { Chunk } from '../chunks/chunk.ts';
import { columnsOfShapes } from '../chunks/chunk-schema.ts';
import type { DecodedChunks } from '../chunks/decoded-chunks.ts';
import { visibleFrom } from '../rows/origin.ts';
import { refuseUnreadable } from '../../unreadable.ts';
import type { ShapeTables } from '../memtables/shape-tables.ts';
import type { RowGroup } from '../rows/rows.ts';
import {
  chunksBetween,
  type Device,
  groupOfChunk,
  unreadableSamples,
  unsealedBetween,
} from '../rows/series.ts';
import { Slice } from '../runs/slice-rows.ts';
import { RunTallies } from './bucket-runs.ts';
import { addSlice } from './bucket-slices.ts';
import type { DeviceNumbers } from '../memtables/device-numbers.ts';
import { missing } from '../../../structures/missing.ts';

/** A query works so long before others get their turn. */
const sliceMs = 8;
/** How many parts are worked on between two looks at the clock. */
const partsPerLook = 16;

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

export interface BucketSources {
  readonly deviceOf: (id: string) => Device | undefined;
  readonly tables: ShapeTables;
  readonly decoded: DecodedChunks;
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
    facet: accumulators[request.accumulator].facet,
    edges,
    from,
    to,
    wholeHours: edges.every((edge) => edge % hourMs === 0),
  };
  const answers: Tallies[] = request.deviceIds.map(() =>
    new Array<undefined>(edges.length - 1).fill(undefined),
  );
  const runs = new RunTallies(plan);
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
      if (!addPart(tallies, part, plan, sources))
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
  { deviceOf, tables }: BucketSources,
): Part[] {
  const { from, to } = plan;
  const groups: RowGroup[] = [];
  const device = tables.numbers.numberOf(deviceId);
  if (device !== undefined)
    for (const table of tables.withRowsOf(device)) {
      if (table.topic !== topic) continue;
      groups.push(...runs.add(tallies, table, device));
      groups.push(...table.unsealedGroupsOf(device, from, to));
    }
  const series = deviceOf(deviceId)?.topics.get(topic);
  if (series === undefined) return inHelpfulOrder(groups, plan);
  const chunks = inHelpfulOrder(chunksBetween(series, from, to), plan);
  return [...chunks, ...unsealedBetween(series, from, to), ...inHelpfulOrder(groups, plan)];
}

/** The places of the ids, by the numbers of the devices: neighbors share pages of runs. */
function inOrderOfNumbers(
  ids: readonly string[],
  { numberOf }: Pick<DeviceNumbers, 'numberOf'>,
): Uint32Array {
  const numbers = Float64Array.from(ids, (id) => numberOf(id) ?? Number.POSITIVE_INFINITY);
  return Uint32Array.from(ids.keys()).sort((a, b) => numbers[a]! - numbers[b]! || a - b);
}

function groupOf(part: Part, { decoded }: BucketSources): RowGroup {
  return isChunk(part) ? groupOfChunk(part, decoded) : part;
}

function isChunk(part: Part): part is Chunk {
  return 'originRows' in part;
}

/** Returns whether the part can be read. */
function addPart(tallies: Tallies, part: Part, plan: BucketPlan, sources: BucketSources): boolean {
  if (isChunk(part)) return addSealedChunk(tallies, part, plan, sources);
  if (part.sealed === undefined) {
    addUnsealed(tallies, part, plan);
    return true;
  }
  const isRead = part.sealed.guarded(() => {
    const visible = planFrom(plan, part.oldest, part.visibleFrom);
    if (visible === undefined) return true;
    return part instanceof Slice && addSlice(tallies, part, visible);
  });
  return isRead === true;
}

function addSealedChunk(
  tallies: Tallies,
  chunk: Chunk,
  plan: BucketPlan,
  { decoded }: BucketSources,
): boolean {
  const visible = planFrom(plan, chunk.oldest, visibleFrom(chunk.origins));
  if (visible === undefined) return true;
  const isRead = decoded.guarded(chunk, () => {
    addChunk(tallies, chunk, visible, decoded.passing);
    return true;
  });
  return isRead === true;
}

function addUnsealed(tallies: Tallies, group: RowGroup, plan: BucketPlan): void {
  const visible = planFrom(plan, group.oldest, group.visibleFrom);
  const sorted = visible === undefined ? undefined : group.sorted();
  if (visible === undefined || sorted === undefined) return;
  const { shapes, shapeColumns } = sorted.rows;
  addRows(tallies, sorted, visible, columnsOfShapes(shapes, shapeColumns, plan.dataKey));
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
    wholeHours: edges.every((edge) => edge % hourMs === 0),
  };
}

/**
 * A facet that can be settled gets the outermost groups first: those between may then be left
 * unread.
 */
function inHelpfulOrder<T>(groups: T[], { facet }: BucketPlan): T[] {
  if (facet.isSettled === undefined || groups.length < 3) return groups;
  return [...groups.slice(0, 1), ...groups.slice(-1), ...groups.slice(1, -1)];
}
