// Giving space back: chunks whose every row is older than its rule says, and everything of a dropped device.
import type { EpochMs } from '../../../../model/instant.ts';
import type { DroppedSamples, RetentionTimes, WorkspaceUsage } from '../../sample-store.ts';
import type { SeriesRegistry } from '../rows/series-registry.ts';
import type { Chunk } from '../chunks/chunk.ts';
import type { Slices } from '../queries/bucket-query.ts';
import { type CompactionParts, forgetChunks, mergeSegments } from './compaction.ts';
import { keepFromOf, type Origin, visibleFrom } from '../rows/rows.ts';
import type { OpenRows } from '../rows/open-rows.ts';
import type { ChunkSealer } from '../chunk-sealer.ts';
import type { Member, Segment, SegmentSet } from '../segments/segment-set.ts';
import { endCounting, exchangeChunks, type Series, unsealedRows } from '../rows/series.ts';
import {
  dropDeviceRows,
  dropExpiredRows,
  isAnyWorthRewriting,
  removeExpiredRuns,
  rewriteDeleted,
  type TableRetentionParts,
} from '../memtables/table-retention.ts';
import type { ShapeTables } from '../memtables/shape-tables.ts';
import { rowsByOrigin, unsealedRowBytes } from '../rows/key-statistics.ts';

/** A segment is rewritten without what was dropped when that is more than this share of it. */
const rewriteShare = 0.1;

export interface RetentionParts extends CompactionParts {
  readonly registry: SeriesRegistry;
  readonly sealer: ChunkSealer;
  readonly segments: SegmentSet;
  readonly ofTables: TableRetentionParts;
}

const turnMs = 4;
/** How many chunks are examined between two looks at the clock. */
const membersPerLook = 1_024;

/** Expired chunks that one commit drops, about: it takes some milliseconds. */
const expiredPerCommit = 4_096;

/** Which rows go: decided by their origins, the newest of them, and whose they are. */
type IsGone = (series: Series, origins: readonly Origin[], newest: EpochMs) => boolean;

/**
 * From now on hides rows before the time that the rules have for their origin. Drops chunks and
 * unsealed rows that are hidden to their newest row. Files that hold nothing else are removed
 * first, so that a full disk gets room before anything is rewritten.
 */
export async function dropExpired(
  parts: RetentionParts,
  rules: RetentionTimes,
): Promise<DroppedSamples> {
  const { registry } = parts;
  registry.origins.setRetention(rules);
  const isAnyLimited = registry.origins
    .all()
    .some(({ keepFrom }) => keepFrom !== Number.NEGATIVE_INFINITY);
  // What could not be rewritten on a full disk is tried again, whatever the rules say now.
  const isAnyDead =
    parts.segments.segments.some((segment) => isWorthRewriting(segment)) ||
    isAnyWorthRewriting(parts.ofTables.tables);
  if (!isAnyLimited && !isAnyDead) return { samples: 0, bytes: 0 };
  const isGone: IsGone = (_, origins, newest) => newest < visibleFrom(origins);
  const { segments } = parts;
  const before = segments.bytes;
  let samples = await removeExpiredRuns(parts.ofTables);
  samples += await segments.exclusive(() => dropExpiredChunks(parts, isGone));
  samples += await dropExpiredRows(parts.ofTables);
  return { samples, bytes: before - segments.bytes };
}

/**
 * Drops every sample of the device that was logged before the position, also what the log could
 * bring back after a crash.
 */
export async function dropDevice(
  parts: RetentionParts,
  deviceId: string,
  before: number,
): Promise<DroppedSamples> {
  const { registry, segments, ofTables } = parts;
  const { tables } = ofTables;
  const bytesBefore = segments.bytes;
  // At once, because what the log gets from now on creates the device again. What is still on its
  // way is left out when it comes.
  const device = registry.devices.get(deviceId);
  registry.dropped.set(deviceId, before);
  registry.removals.forget(deviceId);
  registry.devices.delete(deviceId);
  if (device !== undefined) endCounting(device);
  const rowsOfTables = dropDeviceRows(tables, deviceId);
  // Also what an attempt left that failed, but not what the log has created since.
  const isGone: IsGone = (series) =>
    series.device.id === deviceId && series.device !== registry.devices.get(deviceId);
  const end = registry.beginDropping(deviceId);
  registry.notDropped.add(deviceId);
  try {
    const samples = await segments.exclusive(async () => {
      await tables.numbers.save();
      return dropChunksOfDevice(parts, isGone, { [deviceId]: before });
    });
    registry.notDropped.delete(deviceId);
    await rewriteDeleted(ofTables);
    return { samples: rowsOfTables + samples, bytes: bytesBefore - segments.bytes };
  } finally {
    end();
  }
}

/**
 * Returns how many samples were dropped. Chunks stay, hidden, as long as their segment does: what a
 * restart finds is what there was before.
 */
async function dropExpiredChunks(parts: RetentionParts, isGone: IsGone): Promise<number> {
  const { segments, replayFrom, decoded } = parts;
  const isGoneChunk = (series: Series, { origins, newest }: Chunk): boolean =>
    isGone(series, origins, newest);
  let samples = dropUnsealed(parts, isGone);
  const rest = restAfterTurns(parts.slices);
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
    await mergeSegments([segment], parts, gone);
    samples += rowsOf(gone);
  }
  return samples;
}

/** Returns how many samples were dropped. */
async function dropChunksOfDevice(
  parts: RetentionParts,
  isGone: IsGone,
  droppedDevices: Record<string, number>,
): Promise<number> {
  const { segments, decoded, replayFrom } = parts;
  let samples = dropUnsealed(parts, isGone);
  const rest = restAfterTurns(parts.slices);
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
  for (const { segment } of smallestFirst(rewrite)) await mergeSegments([segment], parts);
  return samples;
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

/** Forgets unsealed rows and chunks that wait for their segment; says how many rows that were. */
function dropUnsealed({ registry, sealer, decoded }: RetentionParts, isGone: IsGone): number {
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
    exchangeChunks(series, new Set(), []);
  }
  for (const { series, chunk } of sealer.forgetWaiting(({ series, chunk }) =>
    isGone(series, chunk.origins, chunk.newest),
  )) {
    samples += chunk.rows;
    decoded.forget(chunk);
    exchangeChunks(series, new Set([chunk]), []);
  }
  return samples;
}

// Expiry preview: about how many samples of a workspace rules of retention would drop, changing nothing.

/** Rows over a time, and what one of them takes. */
interface Block {
  readonly oldest: EpochMs;
  readonly newest: EpochMs;
  readonly rowBytes: number;
}

/** Notes rows of an origin that are in a block. */
type Note = (origin: Origin, rows: number, block: Block) => void;
/** Chunks examined between two readings of the clock. */
const chunksPerLook = 1_024;

/**
 * Rows of a block that is partly older count as if they were spread evenly over its time, because
 * no row is read. Others have their turn after some milliseconds.
 */
export async function previewExpiry(
  {
    registry,
    tables,
    sealer,
    segments,
    slices,
  }: {
    readonly registry: SeriesRegistry;
    readonly tables: ShapeTables;
    readonly sealer: ChunkSealer;
    readonly segments: SegmentSet;
    readonly slices: Slices;
  },
  workspaceId: string,
  rules: RetentionTimes,
): Promise<WorkspaceUsage> {
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
  for (const members of [sealer.waiting(), ...sealed])
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

function noteChunk(chunk: Chunk, note: Note): void {
  const { origins, originRows, oldest, newest, length, rows } = chunk;
  for (const [i, origin] of origins.entries())
    note(origin, originRows[i] ?? 0, { oldest, newest, rowBytes: length / rows });
}

function noteUnsealed(series: Series, note: Note): void {
  for (const rows of unsealedRows(series)) {
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
