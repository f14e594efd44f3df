// Stored uplinks: all raw uplinks of a folder in journal order, for a move to another store.
import { stat } from 'node:fs/promises';
import type { RawUplink } from '../../../model/uplink.ts';
import { scanSegment } from '../../log/journal-segments.ts';
import { uplinkOf } from '../raw-uplink-line.ts';
import { linesOf, refuseOtherBlock } from './block.ts';
import { openEmbeddedUplinks } from './embedded-uplinks.ts';
import { listSegmentFiles, type RawUplinkDamage } from './segment-file.ts';

/**
 * In batches of one block. Opens the store first, which removes what a crash left over. What the
 * journal gives again after a start may be missing.
 */
export async function* storedUplinks(
  directory: string,
  damaged: (damage: RawUplinkDamage) => void,
): AsyncGenerator<readonly RawUplink[]> {
  const store = await openEmbeddedUplinks({
    directory,
    damaged,
    followedFrom: undefined,
    now: () => 0,
    retentionMs: Number.POSITIVE_INFINITY,
    bytesMax: Number.POSITIVE_INFINITY,
  });
  await store.close();
  for (const { path } of await listSegmentFiles(directory)) {
    const { size } = await stat(path);
    for await (const { frames, damage } of scanSegment(path, 0, size)) {
      if (damage !== undefined && frames.length > 0) damaged({ path, ...damage });
      for (const { type, payload } of frames) {
        refuseOtherBlock(path, type);
        yield linesOf(payload).map(uplinkOf);
      }
    }
  }
}
