// Segment dropping: removes a closed segment of raw uplinks, or the uplinks of some devices from it.
import { replaceFile } from '../../log/durable-file.ts';
import { deviceOfLine } from '../raw-uplink-line.ts';
import { compressLines } from './block.ts';
import { type ClosedSegment, closedSegment } from './closed-segments.ts';
import {
  copySegment,
  indexPath,
  type RawUplinkDamage,
  removeSegmentFile,
  segmentName,
} from './segment-file.ts';
import { encodeIndex } from './segment-index.ts';
import type { TableCache } from './table-cache.ts';

export interface SegmentDropping {
  /** Removes the segment. Returns how many bytes it had. */
  drop(segment: ClosedSegment): Promise<number>;
  /** Writes the segment without the devices. Returns how many uplinks that removed. */
  dropDevices(segment: ClosedSegment, deviceIds: ReadonlySet<string>): Promise<number>;
}

export interface DroppingParts {
  readonly directory: string;
  /** Changed in place. */
  readonly closed: ClosedSegment[];
  readonly tables: TableCache;
  readonly damaged: (damage: RawUplinkDamage) => void;
}

/** Calls are not to overlap. */
export function createDropping({
  directory,
  closed,
  tables,
  damaged,
}: DroppingParts): SegmentDropping {
  return {
    async drop(segment) {
      closed.splice(closed.indexOf(segment), 1);
      tables.forget(segment.path);
      await removeSegmentFile(segment);
      return segment.bytes;
    },
    async dropDevices(segment, deviceIds) {
      const table = await tables.get(segment.path);
      // A table that cannot be read may hold any of them.
      const has = (id: string) => table === undefined || table.includes(id, 0, 'latin1');
      if (![...deviceIds].some(has)) return 0;
      const next = segmentName(directory, segment.sequence, segment.generation + 1);
      const copy = await copySegment({
        from: segment.path,
        blocks: segment.head.blocks,
        to: next.path,
        keep: (line) => !deviceIds.has(deviceOfLine(line)),
        compress: compressLines,
      });
      copy.damage.forEach(damaged);
      await replaceFile(indexPath(next.path), encodeIndex(copy.contents));
      const at = closed.indexOf(segment);
      closed[at] = closedSegment({ ...next, contents: copy.contents, bytes: copy.bytes });
      tables.forget(segment.path);
      await removeSegmentFile(segment);
      return segment.head.uplinks - copy.contents.uplinks;
    },
  };
}
