// Folder of raw uplinks without its store: checked, followed by position, and read for a move to another store.
import { stat } from 'node:fs/promises';
import type { RawUplink } from '../../../model/uplink.ts';
import { type BlockDamage, listSegments } from '../../block-log/segment-files.ts';
import { scanFrames } from '../../log/frame.ts';
import { uplinkOf } from '../raw-uplink-line.ts';
import { EmbeddedUplinks } from './embedded-uplinks.ts';
import { missingSegment, readDurableMark, syncedOf } from './found-segments.ts';
import {
  linesOf,
  readHead,
  refuseOtherBlock,
  scanUplinks,
  segmentSuffix,
} from './uplink-segment.ts';

export interface RawUplinkFindings {
  readonly uplinks: number;
  /** A torn end is none: the journal gives again what was in it. */
  readonly damage: readonly BlockDamage[];
}

/** Reads every block, changes nothing. A folder that is not there holds none. */
export async function verifyRawUplinks(directory: string): Promise<RawUplinkFindings> {
  const damage: BlockDamage[] = [];
  let uplinks = 0;
  const files = await listSegments(directory, segmentSuffix);
  const mark = await readDurableMark(directory);
  if (mark !== undefined && !files.some(({ number }) => number === mark.sequence))
    damage.push(missingSegment(directory, mark));
  for (const name of files) {
    const { path, number } = name;
    const { size } = await stat(path);
    const isLast = name === files.at(-1);
    const synced = isLast ? syncedOf(name, mark) : Number.POSITIVE_INFINITY;
    const scanned = await scanUplinks(path, { to: size, synced });
    uplinks += scanned.contents.uplinks;
    damage.push(...scanned.damage);
    const durable = number === mark?.sequence ? mark.bytes : 0;
    const indexed = await readHead(path);
    const written = Math.max(
      durable,
      ...(indexed?.blocks.map(({ offset, bytes }) => offset + bytes) ?? []),
    );
    if (scanned.end < written)
      damage.push({ path, offset: scanned.end, bytes: written - scanned.end });
    else if (scanned.end < size && !isLast)
      damage.push({ path, offset: scanned.end, bytes: size - scanned.end });
  }
  return { uplinks, damage };
}

/**
 * How far the journal was followed: the position behind the newest uplink in the folder, 0 without
 * any. Throws OtherFormatError for files of another format.
 */
export async function positionBehindUplinks(directory: string): Promise<number> {
  const newest = (await listSegments(directory, segmentSuffix)).at(-1);
  if (newest === undefined) return 0;
  let position = (await readHead(newest.path))?.lastPosition ?? -1;
  if (position < 0) {
    const { size } = await stat(newest.path);
    for await (const { frames } of scanFrames(newest.path, 0, size))
      for (const frame of frames) position = Math.max(position, frame.position);
  }
  return position + 1;
}

/**
 * All uplinks in journal order, in batches of one block. Opens the store first, which removes what
 * a crash left over. What the journal gives again after a start may be missing.
 */
export async function* storedUplinks(
  directory: string,
  damaged: (damage: BlockDamage) => void,
): AsyncGenerator<readonly RawUplink[]> {
  const store = await EmbeddedUplinks.open({
    directory,
    damaged,
    followedFrom: undefined,
    now: () => 0,
    retentionMs: Number.POSITIVE_INFINITY,
    bytesMax: Number.POSITIVE_INFINITY,
  });
  await store.close();
  for (const { path } of await listSegments(directory, segmentSuffix)) {
    const { size } = await stat(path);
    for await (const { frames, damage } of scanFrames(path, 0, size)) {
      if (damage !== undefined && frames.length > 0) damaged({ path, ...damage });
      for (const { type, payload } of frames) {
        refuseOtherBlock(path, type);
        yield linesOf(payload).map(uplinkOf);
      }
    }
  }
}
