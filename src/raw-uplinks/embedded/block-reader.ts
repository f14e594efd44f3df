// Reading raw uplinks of one device, newest first: whole blocks are passed over by their counts, the others read.
import type { FileHandle } from 'node:fs/promises';
import type { RawUplink } from '../../model/raw-uplink.ts';
import { isLineOf, uplinkOf } from '../raw-uplink-line.ts';
import type { RawUplinkPage, RawUplinkRange } from '../raw-uplink-store.ts';
import type { ClosedSegment } from './closed-segments.ts';
import { indexPath, openSegmentFile, type RawUplinkDamage, readBlock } from './segment-file.ts';
import { type BlockCount, type BlockPlace, readCounts } from './segment-index.ts';
import type { WrittenSegment } from './segment-writer.ts';
import type { TableCache } from './table-cache.ts';
import { missing } from '../../structures/missing.ts';

export interface RawUplinkSources {
  /** Lines in no block yet, oldest first. */
  readonly lines: readonly string[];
  readonly open: WrittenSegment | undefined;
  readonly closed: readonly ClosedSegment[];
  readonly tables: TableCache;
  readonly damaged: (damage: RawUplinkDamage) => void;
}

interface Blocks {
  readonly path: string;
  readonly blocks: readonly BlockPlace[];
  readonly counts: readonly BlockCount[];
}

export async function listNewestFirst(
  range: RawUplinkRange,
  sources: RawUplinkSources,
): Promise<RawUplinkPage> {
  const {
    deviceId,
    from = Number.NEGATIVE_INFINITY,
    to = Number.POSITIVE_INFINITY,
    skip,
    limit,
  } = range;
  const uplinks: RawUplink[] = [];
  let total = 0;

  const take = (lines: readonly string[]): void => {
    for (const line of lines.toReversed()) {
      if (!isLineOf(line, deviceId)) continue;
      const uplink = uplinkOf(line);
      if (uplink.receivedAt < from || uplink.receivedAt >= to) continue;
      if (total >= skip && uplinks.length < limit) uplinks.push(uplink);
      total += 1;
    }
  };

  const takeBlocks = async ({ path, blocks, counts }: Blocks): Promise<void> => {
    let file: FileHandle | undefined;
    try {
      for (const { block, count } of counts.toReversed()) {
        const place = blocks[block] ?? missing('block');
        if (place.to < from || place.from >= to) continue;
        const isWhole = place.from >= from && place.to < to;
        const isPassed = total + count <= skip || uplinks.length === limit;
        if (isWhole && isPassed && Number.isFinite(count)) {
          total += count;
          continue;
        }
        file ??= await openSegmentFile(path);
        if (file === undefined) return;
        const lines = await readBlock(file, place);
        if (lines === 'damaged')
          sources.damaged({ path, offset: place.offset, bytes: place.bytes });
        else take(lines);
      }
    } finally {
      await file?.close();
    }
  };

  // What is open may move on while blocks are read, so its counts are copied now.
  const open = sources.open && openBlocks(sources.open, deviceId);
  take(sources.lines);
  if (open !== undefined) await takeBlocks(open);
  for (const segment of sources.closed.toReversed()) {
    if (segment.to >= from) await takeBlocks(await closedBlocks(segment, deviceId, sources.tables));
  }
  return { uplinks, total };
}

function openBlocks({ path, contents }: WrittenSegment, deviceId: string): Blocks {
  return { path, blocks: contents.blocks, counts: [...(contents.devices.get(deviceId) ?? [])] };
}

async function closedBlocks(
  { path, head }: ClosedSegment,
  deviceId: string,
  tables: TableCache,
): Promise<Blocks> {
  const table = await tables.get(path);
  const counts = table && (await readCounts(indexPath(path), table, deviceId));
  // Without a sound index every block is looked into; their counts are not known, so none can be
  // passed over.
  const all = head.blocks.map((_, block) => ({ block, count: Number.POSITIVE_INFINITY }));
  return { path, blocks: head.blocks, counts: counts ?? all };
}
