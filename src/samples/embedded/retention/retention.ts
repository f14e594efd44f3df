// Giving space back: chunks whose every row is older than its rule says, and everything of a dropped device.
import type { EpochMs } from '../../../model/instant.ts';
import type { DroppedSamples } from '../../sample-store.ts';
import type { Catalogue } from '../rows/series-registry.ts';
import type { Chunk } from '../chunks/chunk.ts';
import type { CompactionParts } from './compaction.ts';
import { mergeSegments } from './compaction.ts';
import { type Origin, visibleFrom } from '../rows/origin.ts';
import type { OpenRows } from '../rows/open-rows.ts';
import type { Sealing } from '../chunk-sealer.ts';
import type { Segment, SegmentSet } from '../segments/segment-set.ts';
import { exchangeChunks, type Series } from '../rows/series.ts';

/** A segment is rewritten without what was dropped when that is more than this share of it. */
const rewriteShare = 0.1;

export interface RetentionParts extends CompactionParts {
  readonly catalogue: Catalogue;
  readonly sealing: Sealing;
  readonly segments: SegmentSet;
}

/** Which rows go: told by their origin, the newest of them, and whose they are. */
type IsGone = (series: Series, origins: readonly Origin[], newest: EpochMs) => boolean;

/**
 * From now on hides rows before the time that `keepFrom` says for their origin; undefined keeps them for ever. Drops chunks and unsealed
 * rows that are hidden to their newest row. Files that hold nothing else are removed first, so that a full disk gets room before anything is rewritten.
 */
export function dropExpired(
  parts: RetentionParts,
  keepFrom: (workspaceId: string, dataFlowId: string | null) => EpochMs | undefined,
): Promise<DroppedSamples> {
  let isAnyLimited = false;
  for (const origin of parts.catalogue.origins()) {
    origin.keepFrom = keepFrom(origin.workspaceId, origin.dataFlowId) ?? Number.NEGATIVE_INFINITY;
    isAnyLimited ||= origin.keepFrom !== Number.NEGATIVE_INFINITY;
  }
  // What could not be rewritten on a full disk is tried again, whatever the rules say now.
  if (!isAnyLimited && !parts.segments.segments().some(isWorthRewriting))
    return Promise.resolve({ samples: 0, bytes: 0 });
  const isGone: IsGone = (_, origins, newest) => newest < visibleFrom(origins);
  return parts.segments.exclusive(() => drop(parts, isGone, {}));
}

/** Drops every sample of the device, also what the journal could bring back after a crash. `nextPosition` ends what counts as before. */
export function dropDevice(
  parts: RetentionParts,
  deviceId: string,
  nextPosition: number,
): Promise<DroppedSamples> {
  return parts.segments.exclusive(async () => {
    const device = parts.catalogue.devices.get(deviceId);
    // What is still on its way through the journal finds no place any more; what comes later makes the device anew.
    if (device !== undefined) device.dropped = true;
    parts.catalogue.devices.delete(deviceId);
    const isGone: IsGone = (series) => series.device === device;
    return drop(parts, isGone, { [deviceId]: nextPosition });
  });
}

async function drop(
  parts: RetentionParts,
  isGone: IsGone,
  droppedDevices: Record<string, number>,
): Promise<DroppedSamples> {
  const { segments } = parts;
  const before = segments.bytes();
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
    await segments.commit({ add: [], remove, replayFrom: parts.replayFrom, droppedDevices });
  // On a full disk the smallest may still fit, and gives back room for the next; the others keep what is dead and are tried again.
  rewrite.sort((one, other) => bytesOf(one.members) - bytesOf(other.members));
  for (const segment of rewrite) await mergeSegments([segment], parts);
  return { samples, bytes: before - segments.bytes() };
}

function bytesOf(members: Segment['members']): number {
  return members.reduce((sum, { chunk }) => sum + chunk.length, 0);
}

function isWorthRewriting({ deadBytes, file }: Segment): boolean {
  return deadBytes > file.bytes * rewriteShare;
}

/** Forgets unsealed rows and chunks that wait for their segment; says how many rows that were. */
function dropUnsealed({ catalogue, sealing, decoded }: RetentionParts, isGone: IsGone): number {
  let samples = 0;
  const isGoneRows = (series: Series, rows: OpenRows): boolean => {
    const gone = isGone(series, rows.origins, rows.newest);
    if (gone) samples += rows.length;
    return gone;
  };
  for (const series of [...catalogue.unsealed]) {
    const before = samples;
    series.closing = series.closing.filter((rows) => !isGoneRows(series, rows));
    if (series.open !== undefined && isGoneRows(series, series.open)) series.open = undefined;
    if (samples === before) continue;
    catalogue.settle(series);
    exchangeChunks(series, new Set(), []);
  }
  for (const { series, chunk } of sealing.forgetWaiting(({ series, chunk }) =>
    isGone(series, chunk.origins, chunk.newest),
  )) {
    samples += chunk.rows;
    decoded.forget(chunk);
    exchangeChunks(series, new Set([chunk]), []);
  }
  return samples;
}
