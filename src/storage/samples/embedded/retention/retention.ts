// Giving space back: chunks whose every row is older than its rule says, and everything of a dropped device; small segments become one.
import type { EpochMs } from '../../../../model/instant.ts';
import type { DroppedSamples, RetentionTimes, WorkspaceUsage } from '../../sample-store.ts';
import { groupOfChunk, type Series } from '../rows/series.ts';
import type { Chunk } from '../chunks/chunk.ts';
import type { Slices } from '../queries/bucket-query.ts';
import {
  keepFromOf,
  OpenRows,
  type Origin,
  rowAt,
  type RowGroup,
  rowValuesAt,
  type SortedRows,
  visibleFrom,
} from '../rows/open-rows.ts';
import type { ChunkSealer } from '../chunk-sealer.ts';
import type { Member, Segment } from '../segments/segment-set.ts';
import type { ShapeTables } from '../memtables/shape-tables.ts';
import { rowsByOrigin, unsealedRowBytes } from '../rows/key-statistics.ts';
import { LeafValues } from '../../../log/data-shape.ts';
import { sealInChunks } from '../chunks/chunk-writer.ts';
import type { DecodedChunks } from '../queries/sealed-rows.ts';
import type { StoreContents } from '../store-loader.ts';
import type { StoreLimits } from '../store-limits.ts';
import { guarded } from '../rows/removals.ts';
import type { Memtable } from '../memtables/memtable.ts';
import type { TableMerger, TableOfRun, TableSealer } from '../memtables/table-sealer.ts';
import type { TableRun } from '../memtables/shape-table.ts';

/** A segment is rewritten without what was dropped when that is more than this share of it. */
const rewriteShare = 0.1;

const turnMs = 4;
/** How many chunks are examined between two looks at the clock. */
const membersPerLook = 1_024;

/** Expired chunks that one commit drops, about: it takes some milliseconds. */
const expiredPerCommit = 4_096;

/** Which rows go: decided by their origins, the newest of them, and whose they are. */
type IsGone = (series: Series, origins: readonly Origin[], newest: EpochMs) => boolean;

export class Retention {
  readonly #contents: StoreContents;
  readonly #sealer: ChunkSealer;
  readonly #tableSealer: TableSealer;
  readonly #merger: TableMerger;

  constructor(
    contents: StoreContents,
    sealer: ChunkSealer,
    tableSealer: TableSealer,
    merger: TableMerger,
  ) {
    this.#contents = contents;
    this.#sealer = sealer;
    this.#tableSealer = tableSealer;
    this.#merger = merger;
  }

  /**
   * From now on hides rows before the time that the rules have for their origin. Drops chunks and
   * unsealed rows that are hidden to their newest row. Files that hold nothing else are removed
   * first, so that a full disk gets room before anything is rewritten.
   */
  async dropExpired(rules: RetentionTimes): Promise<DroppedSamples> {
    const { registry, segments, tables } = this.#contents;
    registry.origins.setRetention(rules);
    const isAnyLimited = registry.origins
      .all()
      .some(({ keepFrom }) => keepFrom !== Number.NEGATIVE_INFINITY);
    // What could not be rewritten on a full disk is tried again, whatever the rules say now.
    const isAnyDead =
      segments.segments.some((segment) => isWorthRewriting(segment)) || isAnyWorthRewriting(tables);
    if (!isAnyLimited && !isAnyDead) return { samples: 0, bytes: 0 };
    const isGone: IsGone = (_, origins, newest) => newest < visibleFrom(origins);
    const before = segments.bytes;
    let samples = await this.#removeExpiredRuns();
    samples += await segments.exclusive(() => this.#dropExpiredChunks(isGone));
    samples += await this.#dropExpiredRows();
    return { samples, bytes: before - segments.bytes };
  }

  /**
   * Drops every sample of the device that was logged before the position, also what the log could
   * bring back after a crash.
   */
  async dropDevice(deviceId: string, before: number): Promise<DroppedSamples> {
    const { registry, segments, tables } = this.#contents;
    const bytesBefore = segments.bytes;
    // At once, because what the log gets from now on creates the device again. What is still on its
    // way is left out when it comes.
    const device = registry.devices.get(deviceId);
    registry.dropped.set(deviceId, before);
    registry.removals.forget(deviceId);
    registry.devices.delete(deviceId);
    if (device !== undefined) device.endCounting();
    const rowsOfTables = dropDeviceRows(tables, deviceId);
    // Also what an attempt left that failed, but not what the log has created since.
    const isGone: IsGone = (series) =>
      series.device.id === deviceId && series.device !== registry.devices.get(deviceId);
    const end = registry.beginDropping(deviceId);
    registry.notDropped.add(deviceId);
    try {
      const samples = await segments.exclusive(async () => {
        await tables.numbers.save();
        return this.#dropChunksOfDevice(isGone, { [deviceId]: before });
      });
      registry.notDropped.delete(deviceId);
      await this.#rewriteDeleted();
      return { samples: rowsOfTables + samples, bytes: bytesBefore - segments.bytes };
    } finally {
      end();
    }
  }

  /**
   * About how many samples of the workspace the rules would drop. Rows of a block that is partly
   * older count as if they were spread evenly over its time, because no row is read. Others have
   * their turn after some milliseconds.
   */
  async previewExpiry(workspaceId: string, rules: RetentionTimes): Promise<WorkspaceUsage> {
    const { registry, tables, segments, slices } = this.#contents;
    let [samples, bytes] = [0, 0];
    const note: Note = (origin, rows, { oldest, newest, rowBytes }) => {
      if (origin.workspaceId !== workspaceId) return;
      // What is hidden now is not dropped by the new rules.
      const from = Math.max(oldest, origin.keepFrom);
      const gone = rows * shareBefore(keepFromOf(origin, rules), from, newest);
      samples += gone;
      bytes += gone * rowBytes;
    };
    noteTables(tables, note);
    // Of a deleted device that is still being dropped, nothing counts.
    const counts = ({ device }: Series) => registry.devices.get(device.id) === device;
    for (const series of registry.unsealed) if (counts(series)) noteUnsealed(series, note);
    let turnEnds = slices.clock() + turnMs;
    let seen = 0;
    const sealed = segments.segments.map(({ members }) => members);
    for (const members of [this.#sealer.waiting(), ...sealed])
      for (const { series, chunk } of members) {
        if (counts(series)) noteChunk(chunk, note);
        seen += 1;
        if (seen % chunksPerLook !== 0 || slices.clock() < turnEnds) continue;
        // oxlint-disable-next-line no-await-in-loop -- others have their turn
        await slices.pause();
        turnEnds = slices.clock() + turnMs;
      }
    return { samples: Math.round(samples), bytes: Math.round(bytes) };
  }

  /**
   * Merges segments when there are enough of about one size; whether there were. Only where segments
   * change exclusively.
   */
  async mergeSome(): Promise<boolean> {
    const { segments, limits } = this.#contents;
    const sources = segmentsToMerge(segments.segments, limits);
    if (sources !== undefined) await this.#mergeSegments(sources);
    return sources !== undefined;
  }

  /**
   * Returns how many samples were dropped. Chunks stay, hidden, as long as their segment does: what a
   * restart finds is what there was before.
   */
  async #dropExpiredChunks(isGone: IsGone): Promise<number> {
    const { segments, decoded, slices } = this.#contents;
    const replayFrom = () => this.#sealer.replayFrom();
    const isGoneChunk = (series: Series, { origins, newest }: Chunk): boolean =>
      isGone(series, origins, newest);
    let samples = this.#dropUnsealed(isGone);
    const rest = restAfterTurns(slices);
    const rewrite: { readonly segment: Segment; readonly gone: readonly Member[] }[] = [];
    let remove: Segment[] = [];
    const removeSome = async (): Promise<void> => {
      const gone = remove.flatMap(({ members }) => members);
      const counts = (): void => forgetChunks(gone, decoded);
      if (gone.length > 0) await segments.commit({ remove, replayFrom, counts });
      samples += rowsOf(gone);
      remove = [];
    };
    for (const segment of segments.segments) {
      const gone = await membersThat(segment, isGoneChunk, rest);
      if (gone.length > 0 && gone.length === segment.members.length) remove.push(segment);
      else if (isWorthRewriting(segment, bytesOf(gone))) rewrite.push({ segment, gone });
      const count = remove.reduce((sum, { members }) => sum + members.length, 0);
      if (count > expiredPerCommit) await removeSome();
    }
    await removeSome();
    for (const { segment, gone } of smallestFirst(rewrite)) {
      await this.#mergeSegments([segment], gone);
      samples += rowsOf(gone);
    }
    return samples;
  }

  /** Returns how many samples were dropped. */
  async #dropChunksOfDevice(
    isGone: IsGone,
    droppedDevices: Record<string, number>,
  ): Promise<number> {
    const { segments, decoded, slices } = this.#contents;
    const replayFrom = () => this.#sealer.replayFrom();
    let samples = this.#dropUnsealed(isGone);
    const rest = restAfterTurns(slices);
    const rewrite: { readonly segment: Segment }[] = [];
    const remove: Segment[] = [];
    for (const segment of segments.segments) {
      const gone = await membersThat(segment, (series) => isGone(series, [], 0), rest);
      forgetChunks(gone, decoded);
      samples += rowsOf(gone);
      if (gone.length > 0 && gone.length === segment.members.length) {
        remove.push(segment);
        continue;
      }
      if (gone.length > 0) {
        const isDead = new Set(gone.map(({ chunk }) => chunk));
        segment.members = segment.members.filter(({ chunk }) => !isDead.has(chunk));
        segment.deadBytes += bytesOf(gone);
      }
      if (isWorthRewriting(segment)) rewrite.push({ segment });
    }
    await segments.commit({ remove, replayFrom, droppedDevices });
    for (const { segment } of smallestFirst(rewrite)) await this.#mergeSegments([segment]);
    return samples;
  }

  /** Forgets unsealed rows and chunks that wait for their segment; says how many rows that were. */
  #dropUnsealed(isGone: IsGone): number {
    const { registry, decoded } = this.#contents;
    let samples = 0;
    const isGoneRows = (series: Series, rows: OpenRows): boolean => {
      const gone = isGone(series, rows.origins, rows.newest);
      if (gone) samples += rows.length;
      return gone;
    };
    for (const series of [...registry.unsealed]) {
      const before = samples;
      series.closing = series.closing.filter((rows) => !isGoneRows(series, rows));
      if (series.open !== undefined && isGoneRows(series, series.open)) series.open = undefined;
      if (samples === before) continue;
      registry.settle(series);
      series.lookAgain();
    }
    for (const { series, chunk } of this.#sealer.forgetWaiting(({ series, chunk }) =>
      isGone(series, chunk.origins, chunk.newest),
    )) {
      samples += chunk.rows;
      decoded.forget(chunk);
      series.exchangeChunks(new Set([chunk]), []);
    }
    return samples;
  }

  /**
   * Merges the segments into one without the chunks of `expired`, or, when all that counts in them is
   * gone, removes them.
   */
  async #mergeSegments(
    sources: readonly Segment[],
    expired: readonly Member[] = [],
  ): Promise<void> {
    const { segments, decoded, slices, limits } = this.#contents;
    const bySeries = new Map<Series, Chunk[]>();
    const isExpired = new Set(expired.map(({ chunk }) => chunk));
    for (const { members } of sources) {
      for (const { series, chunk } of members) {
        if (isExpired.has(chunk)) continue;
        const chunks = bySeries.get(series);
        if (chunks === undefined) bySeries.set(series, [chunk]);
        else chunks.push(chunk);
      }
      await slices.pause();
    }
    const add: Member[] = [];
    const exchanges: { series: Series; gone: Set<Chunk>; added: Chunk[] }[] = [];
    let sliceEnds = slices.clock() + sliceMs;
    for (const [series, chunks] of bySeries) {
      for (const group of groupsToMerge(chunks, limits)) {
        const merged = group.length > 1 ? mergeChunks(group, this.#contents) : undefined;
        for (const chunk of merged ?? group) add.push({ series, chunk });
        if (merged !== undefined) exchanges.push({ series, gone: new Set(group), added: merged });
        if (slices.clock() < sliceEnds) continue;
        await slices.pause();
        sliceEnds = slices.clock() + sliceMs;
      }
    }
    await segments.commit({
      add,
      remove: sources,
      replayFrom: () => this.#sealer.replayFrom(),
      counts: () => {
        forgetChunks(expired, decoded);
        for (const { series, gone, added } of exchanges) {
          series.exchangeChunks(gone, added);
          for (const chunk of gone) decoded.forget(chunk);
        }
      },
    });
  }

  /** Removes runs whose every row has expired; returns how many rows those were. */
  async #removeExpiredRuns(): Promise<number> {
    const { tables } = this.#contents;
    const dropped = await this.#merger.exclusive(async () => {
      const gone = allRuns(tables).filter(({ run }) => isExpired(run));
      if (gone.length > 0) await this.#merger.remove(gone);
      return gone.reduce((sum, { run }) => sum + run.rowCount, 0);
    });
    if (dropped > 0) tables.marks.forgetTimes();
    return dropped;
  }

  /** Drops the other rows that expired by the times of their origins, when they are many; returns how many. */
  async #dropExpiredRows(): Promise<number> {
    const { tables } = this.#contents;
    for (const table of tables.all())
      if (table.active !== undefined && isWorthSealing(table.active)) tables.close(table);
    const unsealed = await this.#tableSealer.sealClosed();
    const dropped = unsealed + (await this.#rewriteDeleted());
    if (dropped > 0) tables.marks.forgetTimes();
    return dropped;
  }

  /** Removes and rewrites the runs of which much counts no more; returns how many rows had expired. */
  #rewriteDeleted(): Promise<number> {
    return this.#merger.exclusive(() => this.#rewriteWorthwhile());
  }

  /** Returns how many rows had expired. */
  async #rewriteWorthwhile(): Promise<number> {
    const { tables } = this.#contents;
    let dropped = 0;
    const worthwhile = allRuns(tables).filter(({ run }) => shareGone(run) > rewriteShare);
    // On a full disk the smallest may still fit, and gives back room for the next.
    worthwhile.sort((one, other) => one.run.bytes - other.run.bytes);
    for (const { table, run } of worthwhile) {
      const before = rowsOfRuns(table.runs);
      await this.#merger.rewrite(table, [run]);
      dropped += before - rowsOfRuns(table.runs);
    }
    return dropped;
  }
}

/**
 * On a full disk the smallest may still fit, and gives back room for the next; the others are tried
 * again.
 */
function smallestFirst<T extends { readonly segment: Segment }>(rewrite: readonly T[]): T[] {
  return rewrite.toSorted((a, b) => bytesOf(a.segment.members) - bytesOf(b.segment.members));
}

/** Resolves at once, or after others had their turn when this one was long enough. */
type Rest = () => Promise<void> | undefined;

function restAfterTurns({ clock, pause }: Slices): Rest {
  let turnEnds = clock() + turnMs;
  return () => {
    if (clock() < turnEnds) return undefined;
    return pause().then(() => {
      turnEnds = clock() + turnMs;
    });
  };
}

/** A merged segment may have the chunks of 100,000 devices. */
async function membersThat(
  { members }: Segment,
  isWanted: (series: Series, chunk: Chunk) => boolean,
  rest: Rest,
): Promise<Member[]> {
  const wanted: Member[] = [];
  for (let from = 0; from < members.length; from += membersPerLook) {
    for (const member of members.slice(from, from + membersPerLook))
      if (isWanted(member.series, member.chunk)) wanted.push(member);
    await rest();
  }
  return wanted;
}

function bytesOf(members: readonly Member[]): number {
  return members.reduce((sum, { chunk }) => sum + chunk.length, 0);
}

function rowsOf(members: readonly Member[]): number {
  return members.reduce((sum, { chunk }) => sum + chunk.rows, 0);
}

/** `expired` bytes will count no more. */
function isWorthRewriting({ deadBytes, file }: Segment, expired = 0): boolean {
  return deadBytes + expired > file.bytes * rewriteShare;
}

// Expiry preview: about how many samples of a workspace rules of retention would drop, changing nothing.

/** Notes rows of an origin, over a time, and what one of them takes. */
type Note = (
  origin: Origin,
  rows: number,
  block: {
    readonly oldest: EpochMs;
    readonly newest: EpochMs;
    readonly rowBytes: number;
  },
) => void;
/** Chunks examined between two readings of the clock. */
const chunksPerLook = 1_024;

function noteChunk(chunk: Chunk, note: Note): void {
  const { origins, originRows, oldest, newest, length, rows } = chunk;
  for (const [i, origin] of origins.entries())
    note(origin, originRows[i] ?? 0, { oldest, newest, rowBytes: length / rows });
}

function noteUnsealed(series: Series, note: Note): void {
  for (const rows of series.unsealedRows()) {
    const { oldest, newest } = rows;
    for (const [origin, count] of rowsByOrigin(rows))
      note(origin, count, { oldest, newest, rowBytes: unsealedRowBytes });
  }
}

function noteTables(tables: ShapeTables, note: Note): void {
  for (const table of tables.all()) {
    for (const { reader, rows, bytes } of table.runs) {
      const { oldest, newest, rows: all } = reader.run.index.head;
      for (const [i, origin] of reader.origins.entries())
        note(origin, rows[i] ?? 0, { oldest, newest, rowBytes: bytes / all });
    }
    for (const memtable of table.memtables()) {
      const { oldest, newest } = memtable;
      for (const [origin, rows] of memtable.originRows)
        note(origin, rows, { oldest, newest, rowBytes: unsealedRowBytes });
    }
  }
}

/** The share of an even spread from `oldest` to `newest` that is before the time. */
function shareBefore(at: EpochMs, oldest: EpochMs, newest: EpochMs): number {
  if (at <= oldest) return 0;
  return at > newest ? 1 : (at - oldest) / (newest - oldest + 1);
}

// Compaction: small segments become one, and within it the overlapping and small chunks of each topic become chunks of full size.

const sliceMs = 4;

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

/** No read that begins from now on finds the chunks. */
function forgetChunks(members: readonly Member[], decoded: DecodedChunks): void {
  for (const [series, ofSeries] of Map.groupBy(members, (member) => member.series)) {
    const chunks = new Set(ofSeries.map(({ chunk }) => chunk));
    for (const chunk of chunks) decoded.forget(chunk);
    series.exchangeChunks(chunks, []);
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
function mergeChunks(
  chunks: readonly Chunk[],
  { decoded, limits, interners }: StoreContents,
): Chunk[] | undefined {
  const rows = mergedRows(chunks.map((chunk) => groupOfChunk(chunk, decoded)));
  if (rows === undefined) return undefined;
  return [...sealInChunks(rows.sorted(), Number.NEGATIVE_INFINITY, interners.schemas, limits)];
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

// Table retention: rows of the tables that expired, and those of deleted devices, are dropped.

/** Whether a run should be rewritten without what counts no more. */
function isAnyWorthRewriting(tables: ShapeTables): boolean {
  return allRuns(tables).some(({ run }) => shareGone(run) > rewriteShare);
}

/** Drops the rows of the device. Their runs are rewritten when that is durable. */
export function dropDeviceRows(tables: ShapeTables, deviceId: string): number {
  const device = tables.numbers.retire(deviceId);
  if (device === undefined) return 0;
  let dropped = 0;
  for (const table of tables.all()) {
    for (const memtable of table.memtables()) dropped += memtable.forget(device);
    table.runs = table.runs.map((run) => {
      const left = run.without([device]);
      dropped += run.rowCount - left.rowCount;
      return left.rowCount === run.rowCount ? run : left;
    });
  }
  return dropped;
}

function allRuns(tables: ShapeTables): TableOfRun[] {
  return [...tables.all()].flatMap((table) => table.runs.map((run) => ({ table, run })));
}

function rowsOfRuns(runs: readonly TableRun[]): number {
  return runs.reduce((sum, { rowCount }) => sum + rowCount, 0);
}

/** Whether no row still counts. */
function isExpired({ reader, rows }: TableRun): boolean {
  const left = reader.origins.filter((_, origin) => (rows[origin] ?? 0) > 0);
  return reader.run.index.head.newest < visibleFrom(left);
}

/** The share of the rows of the file that count no more, as if they were spread evenly over its time. */
function shareGone({ reader, rows }: TableRun): number {
  const { head } = reader.run.index;
  let left = 0;
  for (const [origin, { keepFrom }] of reader.origins.entries()) {
    const from = Math.max(head.oldest, head.keptFrom[origin] ?? Number.NEGATIVE_INFINITY);
    left += (rows[origin] ?? 0) * (1 - shareBefore(keepFrom, from, head.newest));
  }
  return 1 - left / head.rows;
}

function isWorthSealing(memtable: Memtable): boolean {
  return memtable.expiredRows() > memtable.length * rewriteShare;
}
