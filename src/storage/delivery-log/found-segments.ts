// Segments of a start or a check: those of the manifest, their indexes, and the end of the newest one; damage is reported.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDiskFull } from '../../model/errors.ts';
import { listSegments } from '../block-log/segment-files.ts';
import { readChecked, replaceChecked } from '../log/durable-file.ts';
import { deliveryLogFormat, refuseOtherDeliveries } from './record.ts';
import {
  checkBlocks,
  ClosedSegment,
  type DeliveryLogDamage,
  readHead,
  Segment,
  type SegmentHead,
  segmentPath,
  segmentSuffix,
} from './segment.ts';

export interface FoundSegments {
  /** Ascending by number. */
  readonly closed: ClosedSegment[];
  /** The one to continue; its file may be longer than its bytes. */
  readonly open: Segment | undefined;
  readonly nextNumber: number;
  readonly damage: readonly DeliveryLogDamage[];
}

/** Reads what a start must know. */
export async function findSegments(
  directory: string,
  /** Whether the folder had files before, so that an empty one is damage. */
  expected: boolean,
  /** Whether indexes that are missing are written, which a check does not. */
  repair: boolean,
): Promise<FoundSegments> {
  const names = await listSegments(directory, segmentSuffix);
  const numbers = names.map(({ number }) => number);
  const damage: DeliveryLogDamage[] = [];
  const written = await writtenBytes(directory, { numbers, expected }, damage);
  const closed: ClosedSegment[] = [];
  let open: Segment | undefined;
  for (const { number, path } of names) {
    const isLast = number === numbers.at(-1);
    // Segments before the last one are synced as a whole; without a manifest nobody knows of that one.
    const synced = isLast ? (written?.get(number) ?? (written ? 0 : Infinity)) : Infinity;
    const found = await findSegment(new Segment(path, number), { isLast, synced });
    const short = shortOf(path, found, written?.get(number) ?? 0);
    damage.push(...found.damage, ...short);
    const isHarmed = found.damage.length + short.length > 0;
    if (found.segment === undefined) closed.push(new ClosedSegment(path, number, found.head));
    else if (isLast && !isHarmed) open = found.segment;
    else {
      // What cannot be read stays in the file for a repair.
      found.segment.bytes = found.size;
      const head = found.segment.head();
      if (repair) await unlessDiskFull(found.segment.writeIndex());
      closed.push(new ClosedSegment(path, number, head));
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
  const manifest = await readManifest(directory);
  if (manifest === 'missing' && (expected || numbers.length > 0))
    damage.push({ path: directory, reason: 'the manifest is missing' });
  if (manifest !== 'missing' && 'damaged' in manifest)
    damage.push({ path: manifest.damaged, reason: 'it cannot be read' });
  if (manifest === 'missing' || 'damaged' in manifest) return undefined;
  for (const [number] of manifest.segments) {
    if (!numbers.includes(number))
      damage.push({ path: segmentPath(directory, number), reason: 'the segment is missing' });
  }
  return new Map(manifest.segments);
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
function shortOf(path: string, { indexed, end }: Found, written: number): DeliveryLogDamage[] {
  const wanted = Math.max(written, indexed);
  if (end >= wanted) return [];
  return [{ path, reason: `${wanted} bytes were written and ${end} can be read` }];
}

async function findSegment(
  segment: Segment,
  { isLast, synced }: { readonly isLast: boolean; readonly synced: number },
): Promise<Found> {
  const { path } = segment;
  const { size } = await stat(path);
  const head = await readHead(path);
  if (!isLast && head !== undefined && head.bytes === size)
    return { indexed: size, segment: undefined, head, size, end: size, damage: [] };
  const covered = head !== undefined && head.bytes <= size ? await segment.takeIndex(head) : 0;
  const checked = await checkBlocks(path, covered);
  segment.synced = Math.max(synced, covered);
  const scanned = await segment.scan(covered, size);
  segment.bytes = scanned.end;
  segment.synced = Math.min(segment.synced, scanned.end);
  return {
    indexed: head?.bytes ?? 0,
    segment,
    size,
    head: segment.head(),
    end: scanned.end,
    damage: [...checked, ...scanned.damage],
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

// Check of a data folder: reads every block, changes nothing.

export interface DeliveryLogFindings {
  readonly records: number;
  /** Without a torn end, whose deliveries are sent again. */
  readonly damage: readonly DeliveryLogDamage[];
}

/** `expected`: whether the folder had files before. */
export async function verifyDeliveryLog(
  directory: string,
  expected: boolean,
): Promise<DeliveryLogFindings> {
  const { closed, open, damage } = await findSegments(directory, expected, false);
  const found = [...damage];
  const told = new Set(damage.map(({ path }) => path));
  for (const { path, bytes } of closed)
    if (!told.has(path)) found.push(...(await checkBlocks(path, bytes)));
  const records = closed.reduce((sum, segment) => sum + segment.records, open?.records ?? 0);
  return { records, damage: found };
}
