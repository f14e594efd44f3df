// Newest position: how far the journal was followed, as the raw uplinks on the disk show.
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { scanSegment } from '../../log/segment-scan.ts';
import { indexPath, listSegmentFiles } from './segment-file.ts';
import { readHead } from './segment-index.ts';

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
