// Giving space back: chunks whose every row is older than its rule says, and everything of a dropped device.
import type { EpochMs } from '../../../model/instant.ts';
import type { DroppedSamples, RetentionTimes } from '../../sample-store.ts';
import type { SeriesRegistry } from '../rows/series-registry.ts';
import type { Chunk } from '../chunks/chunk.ts';
import type { CompactionParts } from './compaction.ts';
import { mergeSegments } from './compaction.ts';
import { type Origin, visibleFrom } from '../rows/origin.ts';
import type { OpenRows } from '../rows/open-rows.ts';
import type { ChunkSealer } from '../chunk-sealer.ts';
import type { Segment, SegmentSet } from '../segments/segment-set.ts';
import { exchangeChunks, type Series } from '../rows/series.ts';
import {
  dropDeviceRows,
  dropExpiredRows,
  isAnyWorthRewriting,
  removeExpiredRuns,
  rewriteDeleted,
  type TableRetentionParts,
} from '../memtables/table-retention.ts';

/** A segment is rewritten without what was dropped when that is more than this share of it. */
const rewriteShare = 0.1;

export interface RetentionParts extends CompactionParts {
  readonly registry: SeriesRegistry;
  readonly sealer: ChunkSealer;
  readonly segments: SegmentSet;
  readonly ofTables: TableRetentionParts;
}

/** Which rows go: told by their origin, the newest of them, and whose they are. */
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
  let isAnyLimited = false;
  for (const origin of parts.registry.origins()) {
    origin.keepFrom = keepFromOf(origin, rules);
    isAnyLimited ||= origin.keepFrom !== Number.NEGATIVE_INFINITY;
  }
  // What could not be rewritten on a full disk is tried again, whatever the rules say now.
  const isAnyDead =
    parts.segments.segments().some(isWorthRewriting) || isAnyWorthRewriting(parts.ofTables.tables);
  if (!isAnyLimited && !isAnyDead) return { samples: 0, bytes: 0 };
  const isGone: IsGone = (_, origins, newest) => newest < visibleFrom(origins);
  const { segments } = parts;
  const before = segments.bytes();
  let samples = await removeExpiredRuns(parts.ofTables);
  samples += await segments.exclusive(() => drop(parts, isGone, {}));
  samples += await dropExpiredRows(parts.ofTables);
  return { samples, bytes: before - segments.bytes() };
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
  const bytesBefore = segments.bytes();
  // At once, because what the log gets from now on creates the device again. What is still on its
  // way is left out when it comes.
  const device = registry.devices.get(deviceId);
  registry.dropped.set(deviceId, before);
  registry.devices.delete(deviceId);
  const rowsOfTables = dropDeviceRows(tables, deviceId);
  const isGone: IsGone = (series) => series.device === device;
  const end = registry.beginDropping(deviceId);
  try {
    const samples = await segments.exclusive(async () => {
      await tables.numbers.save();
      return drop(parts, isGone, { [deviceId]: before });
    });
    await rewriteDeleted(ofTables);
    return { samples: rowsOfTables + samples, bytes: bytesBefore - segments.bytes() };
  } finally {
    end();
  }
}

function keepFromOf({ workspaceId, dataFlowId }: Origin, rules: RetentionTimes): EpochMs {
  const ofFlow = dataFlowId === null ? undefined : rules.dataFlows.get(dataFlowId);
  return ofFlow ?? rules.workspaces.get(workspaceId) ?? Number.NEGATIVE_INFINITY;
}

/** Returns how many samples were dropped. */
async function drop(
  parts: RetentionParts,
  isGone: IsGone,
  droppedDevices: Record<string, number>,
): Promise<number> {
  const { segments } = parts;
  const isGoneChunk = (series: Series, chunk: Chunk): boolean =>
    isGone(series, chunk.origins, chunk.newest);
  const unsealed = dropUnsealed(parts, isGone);
  const dead = new Map<Series, Set<Chunk>>();
  const rewrite: Segment[] = [];
  const remove: Segment[] = [];
  for (const segment of segments.segments()) {
    const gone = segment.members.filter(({ series, chunk }) => isGoneChunk(series, chunk));
    if (gone.length === 0) {
      if (isWorthRewriting(segment)) rewrite.push(segment);
      continue;
    }
    for (const { series, chunk } of gone)
      dead.set(series, (dead.get(series) ?? new Set()).add(chunk));
    if (gone.length === segment.members.length) remove.push(segment);
    else {
      const isDead = new Set(gone.map(({ chunk }) => chunk));
      segment.members = segment.members.filter(({ chunk }) => !isDead.has(chunk));
      segment.deadBytes += bytesOf(gone);
      if (isWorthRewriting(segment)) rewrite.push(segment);
    }
  }
  let samples = unsealed;
  for (const [series, chunks] of dead) {
    for (const chunk of chunks) {
      samples += chunk.rows;
      parts.decoded.forget(chunk);
    }
    exchangeChunks(series, chunks, []);
  }
  if (remove.length > 0 || Object.keys(droppedDevices).length > 0)
    await segments.commit({ remove, replayFrom: parts.replayFrom, droppedDevices });
  // On a full disk the smallest may still fit, and gives back room for the next; the others keep
  // what is dead and are tried again.
  rewrite.sort((one, other) => bytesOf(one.members) - bytesOf(other.members));
  for (const segment of rewrite) await mergeSegments([segment], parts);
  return samples;
}

function bytesOf(members: Segment['members']): number {
  return members.reduce((sum, { chunk }) => sum + chunk.length, 0);
}

function isWorthRewriting({ deadBytes, file }: Segment): boolean {
  return deadBytes > file.bytes * rewriteShare;
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
