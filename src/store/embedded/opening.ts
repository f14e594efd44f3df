// What a start finds in the folder: the manifest and its segments, read into the catalogue, with everything that is damaged reported.
import { readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type ShapeInterner, shapeInterner } from '../../journal/data-shape.ts';
import { decodeEntry } from '../../journal/entry-decoding.ts';
import type { FollowerPositions } from '../../journal/follower-positions.ts';
import type { Frame } from '../../journal/frame.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Catalogue } from './catalogue.ts';
import { DamagedChunk } from './chunk.ts';
import { schemaInterner } from './chunk-schema.ts';
import { emptyManifest, type Manifest, readManifest, segmentNumber } from './manifest.ts';
import { type Interners, type OpenedSegment, openSegment } from './segment-reading.ts';
import type { Segment } from './segment-set.ts';
import { addChunk, seriesOf } from './series.ts';

/** What a start or a read found damaged. */
export interface StoreDamage {
  readonly kind: 'manifest' | 'segment' | 'chunk' | 'journal';
  readonly path: string;
  readonly reason: string;
}

export interface OpenedSegments {
  readonly manifest: Manifest;
  readonly segments: Segment[];
  readonly damage: readonly StoreDamage[];
}

export function internersOf(catalogue: Catalogue): Interners {
  const shapes = shapeInterner();
  return { shapes, schemas: schemaInterner(), origin: catalogue.origin };
}

/** Opens the segments that count and adds their chunks to the catalogue; files that no manifest names are removed when `repair` is set. */
export async function openSegments(
  directory: string,
  catalogue: Catalogue,
  interners: Interners,
  repair: boolean,
): Promise<OpenedSegments> {
  const damage: StoreDamage[] = [];
  const names = (await readdir(directory)).filter((name) => /^\d{10}\.segment$/.test(name)).sort();
  const found = await readManifest(directory);
  // Without a manifest nothing was ever committed; with a damaged one the segments themselves say which of them count.
  const manifest = found === 'missing' ? emptyManifest : found === 'damaged' ? manifestOf(names) : found;
  if (found === 'damaged')
    damage.push({ kind: 'manifest', path: join(directory, 'manifest.json'), reason: 'The checksum does not fit' });
  const opened: OpenedSegment[] = [];
  for (const name of manifest.segments) {
    try {
      opened.push(openSegment(join(directory, name), interners));
    } catch (error) {
      const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!missing && !(error instanceof DamagedChunk)) throw error;
      damage.push({ kind: 'segment', path: join(directory, name), reason: (error as Error).message });
    }
  }
  const replaced = new Set(found === 'damaged' ? opened.flatMap(({ replaces }) => replaces) : []);
  const counted = opened.filter(({ file }) => !replaced.has(file.name));
  for (const { file } of opened) if (replaced.has(file.name)) file.close();
  if (repair && found !== 'damaged')
    for (const name of names) if (!manifest.segments.includes(name)) await unlink(join(directory, name));
  return { manifest, segments: counted.map((segment) => addToCatalogue(segment, manifest, catalogue)), damage };
}

function manifestOf(names: readonly string[]): Manifest {
  const last = names.at(-1);
  return { ...emptyManifest, segments: names, nextSegment: last === undefined ? 1 : segmentNumber(last) + 1 };
}

function addToCatalogue({ file, placed }: OpenedSegment, manifest: Manifest, catalogue: Catalogue): Segment {
  const number = segmentNumber(file.name);
  const counted = placed.filter(({ deviceId }) => number >= (manifest.droppedDevices[deviceId]?.segment ?? 0));
  const members = counted.map(({ deviceId, topic, chunk }) => {
    const series = seriesOf(catalogue.deviceOf(deviceId), topic);
    addChunk(series, chunk);
    return { series, chunk };
  });
  return { file, members };
}

/** Adds the rows of a journalled entry that are in no segment. */
export function replayFrame(frame: Frame, manifest: Manifest, catalogue: Catalogue, shapes: ShapeInterner): void {
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
      catalogue.addRow(series, { timestamp, order, shape, values, valuesAt: 0, origin, meta }, frame.position);
    }
    order++;
  }
  device.nextOrder = Math.max(device.nextOrder, order);
  catalogue.noteJournalled(frame.payload.length);
}

/** What opening the journal found, but for a torn tail; and whether it ends before what its followers have seen. */
export function journalDamage(journal: Journal, followers: FollowerPositions, directory: string): StoreDamage[] {
  const found: StoreDamage[] = [];
  for (const { kind, path, offset, bytes, entries } of journal.damage)
    if (kind !== 'tornTail')
      found.push({ kind: 'journal', path, reason: `${kind} at ${offset}: ${bytes} bytes, ${entries} entries` });
  if (followers.newest() > journal.position())
    found.push({
      kind: 'journal',
      path: directory,
      reason: `Entries before ${followers.newest()} are missing at the end`,
    });
  if (followers.damaged)
    found.push({ kind: 'journal', path: directory, reason: 'The positions of followers are damaged' });
  return found;
}
