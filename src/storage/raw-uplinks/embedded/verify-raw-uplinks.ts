// Checks the raw uplinks of a data folder: reads every block, changes nothing.
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { missingSegment, readDurableMark, syncedOf } from './durable-mark.ts';
import {
  indexPath,
  listSegmentFiles,
  type RawUplinkDamage,
  scanSegmentFile,
} from './segment-file.ts';
import { readHead } from './segment-index.ts';

export interface RawUplinkFindings {
  readonly uplinks: number;
  /** A torn end is none: the journal gives again what was in it. */
  readonly damage: readonly RawUplinkDamage[];
}

/** A folder that is not there holds none. */
export async function verifyRawUplinks(directory: string): Promise<RawUplinkFindings> {
  const damage: RawUplinkDamage[] = [];
  let uplinks = 0;
  const files = existsSync(directory) ? await listSegmentFiles(directory) : [];
  const mark = existsSync(directory) ? await readDurableMark(directory) : undefined;
  if (mark !== undefined && !files.some(({ sequence }) => sequence === mark.sequence))
    damage.push(missingSegment(directory, mark));
  for (const { path, sequence } of files) {
    const { size } = await stat(path);
    const isLast = path === files.at(-1)?.path;
    const synced = isLast ? syncedOf({ sequence }, mark) : Number.POSITIVE_INFINITY;
    const scanned = await scanSegmentFile(path, size, { synced });
    uplinks += scanned.contents.uplinks;
    damage.push(...scanned.damage);
    const durable = sequence === mark?.sequence ? mark.bytes : 0;
    const indexed = await readHead(indexPath(path));
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
