// Compaction: small segments become one, and within it the overlapping and small chunks of each topic become chunks of full size.
import { LeafValues } from '../../../log/data-shape.ts';
import type { Slices } from '../queries/bucket-query.ts';
import type { Chunk } from '../chunks/chunk.ts';
import type { SchemaInterner } from '../chunks/chunk-schema.ts';
import { sealInChunks } from '../chunks/chunk-writer.ts';
import type { DecodedChunks } from '../chunks/decoded-chunks.ts';
import type { StoreLimits } from '../store-limits.ts';
import { OpenRows } from '../rows/open-rows.ts';
import { guarded } from '../rows/removals.ts';
import { type RowGroup, rowAt, rowValuesAt, type SortedRows } from '../rows/rows.ts';
import type { Member, Segment, SegmentSet } from '../segments/segment-set.ts';
import { exchangeChunks, groupOfChunk, type Series } from '../rows/series.ts';

const sliceMs = 4;

export interface CompactionParts {
  readonly segments: SegmentSet;
  readonly schemas: SchemaInterner;
  readonly decoded: DecodedChunks;
  readonly slices: Slices;
  readonly limits: StoreLimits;
  readonly replayFrom: () => number;
}

/**
 * The segments to make one of: as many of about one size as the limit says; undefined when there
 * are not enough. Sizes grow by a power each time, so every byte is rewritten a few times only,
 * however much is stored.
 */
function segmentsToMerge(segments: readonly Segment[], limits: StoreLimits): Segment[] | undefined {
  const tiers = new Map<number, Segment[]>();
  for (const segment of segments) {
    if (segment.isRun) continue;
    const tier = Math.floor(
      Math.log(Math.max(1, segment.file.bytes / limits.segmentBytes)) /
        Math.log(limits.segmentsToMerge),
    );
    if (segment.file.bytes > limits.mergedBytesMax) continue;
    const tiered = tiers.get(tier) ?? [];
    tiered.push(segment);
    tiers.set(tier, tiered);
  }
  for (const [, tiered] of [...tiers].sort(([a], [b]) => a - b))
    if (tiered.length >= limits.segmentsToMerge) return tiered.slice(0, limits.segmentsToMerge);
  return undefined;
}

/**
 * Merges segments when there are enough of about one size; whether there were. Only where segments
 * change exclusively.
 */
export async function mergeSome(parts: CompactionParts): Promise<boolean> {
  const sources = segmentsToMerge(parts.segments.segments, parts.limits);
  if (sources !== undefined) await mergeSegments(sources, parts);
  return sources !== undefined;
}

/**
 * Merges the segments into one without the chunks of `expired`, or, when all that counts in them is
 * gone, removes them.
 */
export async function mergeSegments(
  sources: readonly Segment[],
  parts: CompactionParts,
  expired: readonly Member[] = [],
): Promise<void> {
  const bySeries = new Map<Series, Chunk[]>();
  const isExpired = new Set(expired.map(({ chunk }) => chunk));
  for (const { members } of sources) {
    for (const { series, chunk } of members) {
      if (isExpired.has(chunk)) continue;
      const chunks = bySeries.get(series);
      if (chunks === undefined) bySeries.set(series, [chunk]);
      else chunks.push(chunk);
    }
    await parts.slices.pause();
  }
  const add: Member[] = [];
  const exchanges: { series: Series; gone: Set<Chunk>; added: Chunk[] }[] = [];
  let sliceEnds = parts.slices.clock() + sliceMs;
  for (const [series, chunks] of bySeries) {
    for (const group of groupsToMerge(chunks, parts.limits)) {
      const merged = group.length > 1 ? mergeChunks(group, parts) : undefined;
      for (const chunk of merged ?? group) add.push({ series, chunk });
      if (merged !== undefined) exchanges.push({ series, gone: new Set(group), added: merged });
      if (parts.slices.clock() < sliceEnds) continue;
      await parts.slices.pause();
      sliceEnds = parts.slices.clock() + sliceMs;
    }
  }
  await parts.segments.commit({
    add,
    remove: sources,
    replayFrom: parts.replayFrom,
    counts: () => {
      forgetChunks(expired, parts.decoded);
      for (const { series, gone, added } of exchanges) {
        exchangeChunks(series, gone, added);
        for (const chunk of gone) parts.decoded.forget(chunk);
      }
    },
  });
}

/** No read that begins from now on finds the chunks. */
export function forgetChunks(members: readonly Member[], decoded: DecodedChunks): void {
  for (const [series, ofSeries] of Map.groupBy(members, (member) => member.series)) {
    const chunks = new Set(ofSeries.map(({ chunk }) => chunk));
    for (const chunk of chunks) decoded.forget(chunk);
    exchangeChunks(series, chunks, []);
  }
}

/**
 * The chunks in the order of time, those that overlap or are small together, as long as they stay
 * of use together.
 */
function groupsToMerge(chunks: readonly Chunk[], limits: StoreLimits): Chunk[][] {
  const groups: { chunks: Chunk[]; newest: number; rows: number }[] = [];
  for (const chunk of chunks.toSorted((a, b) => a.oldest - b.oldest)) {
    const last = groups.at(-1);
    const overlaps = last !== undefined && chunk.oldest <= last.newest;
    const isSmall =
      last !== undefined && Math.min(last.rows, chunk.rows) < limits.rowsToCloseAtDay / 2;
    const mayJoin =
      last !== undefined && !chunk.damaged && !last.chunks.some(({ damaged }) => damaged);
    if (
      mayJoin &&
      (overlaps || (isSmall && last.rows + chunk.rows <= limits.rowsMax)) &&
      last.rows < limits.mergeRowsMax
    ) {
      last.chunks.push(chunk);
      last.newest = Math.max(last.newest, chunk.newest);
      last.rows += chunk.rows;
    } else groups.push({ chunks: [chunk], newest: chunk.newest, rows: chunk.rows });
  }
  return groups.map((group) => group.chunks);
}

/**
 * The same rows in new chunks; undefined when some of them cannot be read, so that nothing is
 * thrown away.
 */
function mergeChunks(chunks: readonly Chunk[], parts: CompactionParts): Chunk[] | undefined {
  const { decoded, limits, schemas } = parts;
  const rows = mergedRows(chunks.map((chunk) => groupOfChunk(chunk, decoded)));
  if (rows === undefined) return undefined;
  return [...sealInChunks(rows.sorted(), Number.NEGATIVE_INFINITY, schemas, limits)];
}

interface MergeSource {
  readonly group: RowGroup;
  readonly sorted: SortedRows;
  at: number;
}

/** The rows of the groups in the order of time; undefined when some of them cannot be read. */
export function mergedRows(
  groups: readonly RowGroup[],
  from: { readonly firstPosition: number; readonly firstBytes: number } = {
    firstPosition: 0,
    firstBytes: 0,
  },
): OpenRows | undefined {
  const sources: MergeSource[] = [];
  for (const group of groups.toSorted((a, b) => a.oldest - b.oldest)) {
    const sorted = group.sealed?.damaged === true ? undefined : group.sorted();
    if (sorted === undefined) return undefined;
    sources.push({ group, sorted, at: 0 });
  }
  const rows = new OpenRows(from.firstPosition, from.firstBytes, 1_024);
  const values = new LeafValues();
  for (let first = 0; first < sources.length; ) {
    const next = earliestOf(sources, first);
    if (next === undefined) break;
    const { group, sorted, at } = next;
    const row = guarded(group, () => rowValuesAt(sorted.rows, rowAt(sorted, at), values));
    if (row === undefined) return undefined;
    rows.append({
      timestamp: sorted.timestamps[at]!,
      order: sorted.orders[at]!,
      valuesAt: 0,
      ...row,
    });
    next.at++;
    while (first < sources.length && isAtEnd(sources[first]!)) first++;
  }
  return rows;
}

const isAtEnd = ({ at, sorted }: MergeSource): boolean => at === sorted.length;

/** The source with the row that comes next, among those from a place on; they are in the order of their oldest row. */
function earliestOf(sources: readonly MergeSource[], first: number): MergeSource | undefined {
  let next: MergeSource | undefined;
  for (let i = first; i < sources.length; i++) {
    const source = sources[i]!;
    if (next !== undefined && source.group.oldest > next.sorted.timestamps[next.at]!) break;
    if (!isAtEnd(source) && (next === undefined || isBefore(source, next))) next = source;
  }
  return next;
}

function isBefore(a: MergeSource, b: MergeSource): boolean {
  const timeA = a.sorted.timestamps[a.at]!;
  const timeB = b.sorted.timestamps[b.at]!;
  return timeA < timeB || (timeA === timeB && a.sorted.orders[a.at]! < b.sorted.orders[b.at]!);
}
