// What a start finds in the folder: segments and journalled entries, read into the catalogue, with everything that is damaged reported.
import { join } from 'node:path';
import { type ShapeInterner, shapeInterner } from '../../log/data-shape.ts';
import { decodeEntry } from '../../log/entry-decoding.ts';
import type { FollowerPositions } from '../../log/follower-positions.ts';
import type { Frame } from '../../log/frame.ts';
import type { JournalDamage } from '../../log/journal-recovery.ts';
import type { Catalogue } from './rows/series-registry.ts';
import { schemaInterner } from './chunks/chunk-schema.ts';
import { type Manifest, segmentNumber } from './segments/manifest.ts';
import { countedSegments, type StoreDamage } from './segments/segment-files.ts';
import type { Interners, OpenedSegment } from './segments/chunk-segment-reader.ts';
import type { Segment } from './segments/segment-set.ts';
import { addChunk, seriesOf } from './rows/series.ts';

export interface OpenedSegments {
  readonly manifest: Manifest;
  readonly segments: Segment[];
  readonly damage: readonly StoreDamage[];
}

export function internersOf(catalogue: Catalogue): Interners {
  const shapes = shapeInterner();
  return { shapes, schemas: schemaInterner(), origin: catalogue.origin };
}

/** Opens the segments that count and adds their chunks to the catalogue; see `countedSegments`. */
export async function openSegments(
  directory: string,
  catalogue: Catalogue,
  interners: Interners,
  journalStart: number | undefined,
  repair: boolean,
): Promise<OpenedSegments> {
  const { manifest, segments, damage } = await countedSegments(
    directory,
    interners,
    journalStart,
    repair,
  );
  return {
    manifest,
    segments: segments.map((segment) => addToCatalogue(segment, manifest, catalogue)),
    damage,
  };
}

function addToCatalogue(
  { file, placed }: OpenedSegment,
  manifest: Manifest,
  catalogue: Catalogue,
): Segment {
  const number = segmentNumber(file.name);
  const counted = placed.filter(
    ({ deviceId }) => number >= (manifest.droppedDevices[deviceId]?.segment ?? 0),
  );
  const members = counted.map(({ deviceId, topic, chunk }) => {
    const series = seriesOf(catalogue.deviceOf(deviceId), topic);
    addChunk(series, chunk);
    return { series, chunk };
  });
  const bytes = (of: OpenedSegment['placed']) =>
    of.reduce((sum, { chunk }) => sum + chunk.length, 0);
  return { file, members, deadBytes: bytes(placed) - bytes(counted) };
}

/** Adds the rows of a journalled entry that are in no segment. */
export function replayFrame(
  frame: Frame,
  manifest: Manifest,
  catalogue: Catalogue,
  shapes: ShapeInterner,
): void {
  const { head, rows } = decodeEntry(frame.payload, shapes);
  const device = catalogue.deviceOf(head.device);
  const isDropped = frame.position < (manifest.droppedDevices[head.device]?.position ?? 0);
  let order = head.firstOrder;
  for (const row of rows()) {
    const [, workspaceId, dataFlowId, , stored] = row.origin;
    const series = stored && !isDropped ? seriesOf(device, row.topic) : undefined;
    if (series !== undefined && order > series.sealedOrder) {
      const { timestamp, shape, values, meta } = row;
      const origin = catalogue.origin(workspaceId, dataFlowId);
      catalogue.addRow(
        series,
        { timestamp, order, shape, values, valuesAt: 0, origin, meta },
        frame.position,
      );
    }
    order++;
  }
  device.nextOrder = Math.max(device.nextOrder, order);
  catalogue.noteJournalled(frame.payload.length);
}

/** What is known of the journal outside its own folder. */
export interface JournalEndSeen {
  /** Every entry before this position was acknowledged. */
  readonly acknowledgedTo: number;
  /** Every entry before this one was durable, because raw uplinks made of them are on the disk. */
  readonly uplinksTo?: number;
  /** Where followers go on whose own positions are lost. */
  readonly followFrom: number;
}

/** Every entry before the position was durable, whatever the journal's files say. */
export function durableTo(followers: FollowerPositions, seen: JournalEndSeen | undefined): number {
  return Math.max(followers.newest(), seen?.acknowledgedTo ?? 0, seen?.uplinksTo ?? 0);
}

/** The same sentence whether a start or a reader comes upon it, so that it is told once. */
export function unreadableText(bytes: number, offset: number): string {
  return `${bytes} bytes from ${offset} on cannot be read`;
}

/** What reading the journal found, but for a torn tail, and what is known of its followers. */
export function journalDamage(
  found: readonly JournalDamage[],
  followers: FollowerPositions,
  directory: string,
  seen?: JournalEndSeen,
): StoreDamage[] {
  const damage: StoreDamage[] = [];
  // The records are on the disk before the journal is told so; the other way round they are an older copy.
  const reached = followers.found === 'sound' ? (followers.get('device-status') ?? 0) : 0;
  if (seen !== undefined && reached > seen.acknowledgedTo)
    damage.push({
      kind: 'records',
      path: join(directory, 'followers.json'),
      reason: `The records are older than the samples: they know the journal to ${seen.acknowledgedTo} and have had it to ${reached}; records made in between are missing`,
    });
  for (const { kind, path, offset, bytes, firstPosition, entries } of found) {
    if (kind === 'tornTail') continue;
    const what =
      kind === 'unreadableBytes'
        ? unreadableText(bytes, offset)
        : `${entries} entries from position ${firstPosition} on are missing`;
    damage.push({ kind: 'journal', path, reason: what });
  }
  if (followers.found !== 'sound')
    damage.push({
      kind: 'journal',
      path: join(directory, 'followers.json'),
      reason: `The positions of followers are ${followers.found}: outputs and rules that were behind position ${followers.fallback} may not have seen all entries before it`,
    });
  return damage;
}
