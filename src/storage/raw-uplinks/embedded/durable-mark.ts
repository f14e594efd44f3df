// Durable mark: the synced length of the open segment, and how far the journal was followed. A shorter segment is damaged.
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readChecked, replaceChecked, syncDirectory } from '../../log/durable-file.ts';
import { scanSegment } from '../../log/journal-segments.ts';
import { rawUplinkFormat, refuseOtherUplinks } from './block.ts';
import {
  indexPath,
  listSegmentFiles,
  type RawUplinkDamage,
  type SegmentName,
  segmentName,
} from './segment-file.ts';
import { readHead } from './segment-index.ts';

/** The open segment by its number, and its bytes that were synced. */
export interface DurableMark {
  readonly sequence: number;
  readonly bytes: number;
}

/** The segment of the mark is gone. */
export function missingSegment(
  directory: string,
  { sequence, bytes }: DurableMark,
): RawUplinkDamage {
  return { path: segmentName(directory, sequence, 0).path, offset: 0, bytes };
}

const markPath = (directory: string): string => join(directory, 'durable.json');

/** Unlimited for a segment that no mark tells of: nothing of it may count as torn. */
export function syncedOf(
  { sequence }: Pick<SegmentName, 'sequence'>,
  mark: DurableMark | undefined,
): number {
  return mark?.sequence === sequence ? mark.bytes : Number.POSITIVE_INFINITY;
}

/** Notes the mark. */
export async function writeDurableMark(directory: string, mark: DurableMark): Promise<void> {
  await replaceChecked(markPath(directory), JSON.stringify({ format: rawUplinkFormat, ...mark }));
}

/** Deletes the mark when no segment is open. */
export async function removeDurableMark(directory: string): Promise<void> {
  await rm(markPath(directory), { force: true });
  await syncDirectory(directory);
}

/**
 * Undefined without one; a damaged mark is none, because nothing depends on it but a warning.
 * Throws OtherFormatError for one of another format.
 */
export async function readDurableMark(directory: string): Promise<DurableMark | undefined> {
  const found = await readChecked(markPath(directory));
  if (found === undefined || found === 'damaged') return undefined;
  const { format, ...mark } = JSON.parse(found.text) as DurableMark & { readonly format: number };
  refuseOtherUplinks(markPath(directory), format);
  return mark;
}

// Newest position: how far the journal was followed, as the raw uplinks on the disk show.

/**
 * The position behind the newest uplink in the folder, 0 without any. Throws OtherFormatError for
 * files of another format.
 */
export async function positionBehindUplinks(directory: string): Promise<number> {
  const newest = existsSync(directory) ? (await listSegmentFiles(directory)).at(-1) : undefined;
  if (newest === undefined) return 0;
  let position = (await readHead(indexPath(newest.path)))?.lastPosition ?? -1;
  if (position < 0) {
    const { size } = await stat(newest.path);
    for await (const { frames } of scanSegment(newest.path, 0, size))
      for (const frame of frames) position = Math.max(position, frame.position);
  }
  return position + 1;
}
