// Segments of a start: those of the manifest, their indexes, and the end of the newest one; damage is reported.
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull } from '../../model/errors.ts';
import { readChecked, replaceChecked } from '../log/durable-file.ts';
import { deliveryLogFormat, refuseOtherDeliveries } from './format.ts';
import type { Owners, RowCounts } from './row-table.ts';
import {
  headOf,
  ownersOf,
  readHead,
  readTables,
  type SegmentHead,
  writeIndex,
} from './segment-index.ts';
import {
  checkBlocks,
  type DeliveryLogDamage,
  emptySegment,
  listSegments,
  scanBlocks,
  type Segment,
  segmentPath,
} from './segment.ts';

/** A complete segment: its rows are in its index file. */
export interface ClosedSegment {
  readonly number: number;
  readonly path: string;
  readonly bytes: number;
  readonly records: number;
  readonly lastPosition: number;
  readonly updated: number;
  readonly hasForeignIds: boolean;
  readonly owners: Owners;
  readonly counts: ReadonlyMap<string, RowCounts>;
}

export interface FoundSegments {
  /** Ascending by number. */
  readonly closed: ClosedSegment[];
  /** The one to continue; its file may be longer than its bytes. */
  readonly open: Segment | undefined;
  readonly nextNumber: number;
  readonly damage: readonly DeliveryLogDamage[];
}

/** How the files are read. */
export interface FindOptions {
  /** Whether indexes that are missing are written, which a check does not. */
  readonly repair: boolean;
  /** Whether the folder had files before, so that an empty one is damage. */
  readonly expected: boolean;
}

/** Reads what a start must know. */
export async function findSegments(
  directory: string,
  { repair, expected }: FindOptions,
): Promise<FoundSegments> {
  const numbers = existsSync(directory) ? await listSegments(directory) : [];
  const damage: DeliveryLogDamage[] = [];
  const written = await writtenBytes(directory, { numbers, expected }, damage);
  const closed: ClosedSegment[] = [];
  let open: Segment | undefined;
  for (const number of numbers) {
    const isLast = number === numbers.at(-1);
    // Segments before the last one are synced as a whole; without a manifest nobody knows of that one.
    const synced = isLast ? (written?.get(number) ?? (written ? 0 : Infinity)) : Infinity;
    const found = await findSegment(directory, number, { isLast, synced });
    const short = shortOf(found, written?.get(number) ?? 0);
    damage.push(...found.damage, ...short);
    const isHarmed = found.damage.length + short.length > 0;
    if (found.segment === undefined) closed.push(closedSegment(directory, number, found.head));
    else if (isLast && !isHarmed) open = found.segment;
    else {
      // What cannot be read stays in the file for a repair.
      found.segment.bytes = found.size;
      const head = headOf(found.segment);
      if (repair) await unlessDiskFull(writeIndex(found.segment));
      closed.push(closedSegment(directory, number, head));
    }
  }
  const known = [...numbers, ...(written?.keys() ?? [])];
  return { closed, open, nextNumber: Math.max(0, ...known) + 1, damage };
}

/** The synced bytes of each segment. Undefined without a manifest; one that is missing is reported, as are segments. */
async function writtenBytes(
  directory: string,
  { numbers, expected }: { readonly numbers: readonly number[]; readonly expected: boolean },
  damage: DeliveryLogDamage[],
): Promise<ReadonlyMap<number, number> | undefined> {
  const manifest = existsSync(directory) ? await readManifest(directory) : 'missing';
  if (manifest === 'missing' && (expected || numbers.length > 0))
    damage.push({ path: directory, reason: 'the manifest is missing' });
  if (manifest !== 'missing' && 'damaged' in manifest)
    damage.push({ path: manifest.damaged, reason: 'it cannot be read' });
  if (manifest === 'missing' || 'damaged' in manifest) return undefined;
  const { segments }: Manifest = manifest;
  for (const [number] of segments) {
    if (!numbers.includes(number))
      damage.push({ path: segmentPath(directory, number), reason: 'the segment is missing' });
  }
  return new Map(segments);
}

/** A start does not fail because the disk is full: the next one writes it. */
export async function unlessDiskFull(write: Promise<unknown>): Promise<boolean> {
  return write.then(
    () => true,
    (error: unknown) => {
      if (isDiskFull(error)) return false;
      throw error;
    },
  );
}

interface Found {
  readonly path: string;
  /** Bytes that the index on the disk covers. */
  readonly indexed: number;
  /** Undefined when the index says everything. */
  readonly segment: Segment | undefined;
  readonly head: SegmentHead;
  readonly size: number;
  /** Behind the last whole block. */
  readonly end: number;
  readonly damage: readonly DeliveryLogDamage[];
}

/** Reports a segment of which less can be read than was written. */
function shortOf({ path, indexed, end }: Found, written: number): DeliveryLogDamage[] {
  const wanted = Math.max(written, indexed);
  if (end >= wanted) return [];
  return [{ path, reason: `${wanted} bytes were written and ${end} can be read` }];
}

async function findSegment(
  directory: string,
  number: number,
  { isLast, synced }: { readonly isLast: boolean; readonly synced: number },
): Promise<Found> {
  const path = segmentPath(directory, number);
  const { size } = await stat(path);
  const head = await readHead(path);
  if (!isLast && head !== undefined && head.bytes === size)
    return { path, indexed: size, segment: undefined, head, size, end: size, damage: [] };
  const segment = emptySegment(directory, number);
  const covered = head !== undefined && head.bytes <= size ? await resumed(segment, head) : 0;
  const checked = await checkBlocks(path, 0, covered);
  segment.synced = Math.max(synced, covered);
  const scanned = await scanBlocks(segment, covered, size);
  segment.bytes = scanned.end;
  segment.synced = Math.min(segment.synced, scanned.end);
  return {
    path,
    indexed: head?.bytes ?? 0,
    segment,
    size,
    head: headOf(segment),
    end: scanned.end,
    damage: [...checked.damage, ...scanned.damage],
  };
}

/** Takes over what the index covers; returns how many bytes of the segment that is. */
async function resumed(segment: Segment, head: SegmentHead): Promise<number> {
  const tables = await readTables(segment.path);
  if (tables === undefined) return 0;
  const { records, lastPosition, updated, hasForeignIds } = head;
  Object.assign(segment, { tables, records, lastPosition, updated, hasForeignIds });
  Object.assign(segment, { owners: ownersOf(head) });
  return head.bytes;
}

export function closedSegment(directory: string, number: number, head: SegmentHead): ClosedSegment {
  const { bytes, records, lastPosition, updated, hasForeignIds, tables } = head;
  return {
    number,
    path: segmentPath(directory, number),
    bytes,
    records,
    lastPosition,
    updated,
    hasForeignIds,
    owners: ownersOf(head),
    counts: new Map(tables.map(([connectorId, { counts }]) => [connectorId, counts])),
  };
}

// Manifest of the delivery log: its segments and how many bytes of each are on the disk for certain.

interface Manifest {
  /** By number, ascending; the last one may be longer. */
  readonly segments: readonly (readonly [number: number, bytes: number])[];
}

const manifestPath = (directory: string): string => join(directory, 'manifest.json');

/** Durable when it resolves. */
export async function writeManifest(directory: string, { segments }: Manifest): Promise<void> {
  const text = JSON.stringify({ format: deliveryLogFormat, segments });
  await replaceChecked(manifestPath(directory), text);
}

/** Throws OtherFormatError for one of another format. */
async function readManifest(
  directory: string,
): Promise<Manifest | 'missing' | { readonly damaged: string }> {
  const path = manifestPath(directory);
  const found = await readChecked(path);
  if (found === undefined) return 'missing';
  if (found === 'damaged') return { damaged: path };
  const manifest = JSON.parse(found.text) as Manifest & { readonly format: number };
  refuseOtherDeliveries(path, manifest.format);
  return manifest;
}
