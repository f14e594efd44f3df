// Bucket query: tallies from the chunks and the unsealed rows of each device, in slices, so that other work is not delayed.
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
import { chunksBetween, type Device, unreadableSamples, unsealedBetween } from '../rows/series.ts';
import { missing } from '../../../structures/missing.ts';

/** A query works so long before others get their turn. */
const sliceMs = 8;
/** How many chunks are worked on between two looks at the clock. */
const chunksPerLook = 16;

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

/** See the port's `buckets`. */
export async function queryBuckets(
  request: BucketRequest,
  deviceOf: (id: string) => Device | undefined,
  decoded: DecodedChunks,
  slices: Slices,
): Promise<Tallies[]> {
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
  const answers: Tallies[] = [];
  let sliceEnds = slices.clock() + sliceMs;
  let worked = 0;
  for (const id of request.deviceIds) {
    const tallies: Tallies = new Array(edges.length - 1).fill(undefined);
    answers.push(tallies);
    const series = deviceOf(id)?.topics.get(request.topic);
    if (series === undefined) continue;
    // Taken together: rows that are sealed while this query pauses are in neither or both
    // otherwise.
    const unsealed = unsealedBetween(series, from, to);
    for (const chunk of inHelpfulOrder(chunksBetween(series, from, to), plan)) {
      const visible = planFrom(plan, chunk.oldest, visibleFrom(chunk.origins));
      if (visible !== undefined) {
        const isRead = decoded.guarded(chunk, () => {
          addChunk(tallies, chunk, visible, decoded.passing);
          return true;
        });
        // A number without some of its values would be wrong; one that needs nothing of what is
        // damaged is right.
        if (isRead === undefined) refuseUnreadable(unreadableSamples(id, request.topic, chunk));
      }
      if (++worked % chunksPerLook !== 0 || slices.clock() < sliceEnds) continue;
      await slices.pause();
      sliceEnds = slices.clock() + sliceMs;
    }
    for (const rows of unsealed) {
      const visible = planFrom(plan, rows.oldest, rows.visibleFrom);
      if (visible === undefined) continue;
      addRows(
        tallies,
        rows.sorted(),
        visible,
        columnsOfShapes(rows.shapes, rows.shapeColumns, dataKey),
      );
    }
  }
  return answers;
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
 * A facet that can be settled gets the outermost chunks first: those between may then be left
 * unread.
 */
function inHelpfulOrder(chunks: Chunk[], { facet }: BucketPlan): Chunk[] {
  if (facet.isSettled === undefined || chunks.length < 3) return chunks;
  return [...chunks.slice(0, 1), ...chunks.slice(-1), ...chunks.slice(1, -1)];
}
