// Raw uplinks in files of the data folder: appended in journal order, dropped by age, size and device.
import { type FileHandle, stat } from 'node:fs/promises';
import { makeFolder, replaceFile } from '../../log/durable-file.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { RawUplink } from '../../../model/uplink.ts';
import { missing } from '../../../structures/missing.ts';
import { createSerialQueue } from '../../../structures/serial-queue.ts';
import { deviceOfLine, isLineOf, uplinkOf } from '../raw-uplink-line.ts';
import type { RawUplinkPage, RawUplinkRange, RawUplinkStore } from '../raw-uplink-store.ts';
import { compressLines } from './block.ts';
import { type ClosedSegment, closedSegment, openClosedSegments } from './closed-segments.ts';
import {
  type DurableMark,
  missingSegment,
  readDurableMark,
  removeDurableMark,
  syncedOf,
} from './durable-mark.ts';
import { type RawUplinkLimits, rawUplinkLimits } from './raw-uplink-limits.ts';
import {
  copySegment,
  indexPath,
  listSegmentFiles,
  openSegmentFile,
  type RawUplinkDamage,
  readBlock,
  removeSegmentFile,
  type ScannedSegment,
  scanSegmentFile,
  segmentName,
  type SegmentName,
} from './segment-file.ts';
import {
  type BlockCount,
  type BlockPlace,
  encodeIndex,
  readCounts,
  readTable,
} from './segment-index.ts';
import { SegmentWriter, type SegmentWriterParts, type WrittenSegment } from './segment-writer.ts';
import { createTableCache, type TableCache } from './table-cache.ts';

export interface EmbeddedUplinksOptions extends FindingOptions {
  readonly now: () => EpochMs;
  readonly retentionMs: number;
  readonly bytesMax: number;
  readonly limits?: Partial<RawUplinkLimits>;
}

/** Opens or creates the store of the folder. */
export async function openEmbeddedUplinks(
  options: EmbeddedUplinksOptions,
): Promise<RawUplinkStore> {
  const { directory, now, retentionMs, damaged } = options;
  const limits: RawUplinkLimits = { ...rawUplinkLimits, ...options.limits };
  await makeFolder(directory);
  const { closed, resume, sequence, lastPosition } = await findSegments(options);
  const writer = new SegmentWriter({ directory, limits, now, sequence, resume, lastPosition });
  await writer.resume();
  const tables = createTableCache(limits.tableCacheBytes, readTable);
  const dropping = createDropping({ directory, closed, tables, damaged });
  const maintenance = createMaintenance({ options, limits, closed, writer, dropping });
  const inTurn = createSerialQueue();
  return {
    add: (uplinks, through) =>
      inTurn.run(async () => {
        await writer.add(uplinks, through);
        await maintenance.closeFull(Number.NEGATIVE_INFINITY);
      }),
    get durable() {
      return writer.durable;
    },
    list: (range) =>
      listNewestFirst(
        { ...range, from: Math.max(range.from ?? Number.NEGATIVE_INFINITY, now() - retentionMs) },
        { lines: [...writer.lines], open: writer.segment, closed: [...closed], tables, damaged },
      ),
    syncWhenDue: () => inTurn.run(() => writer.syncWhenDue()),
    // Only this process reads the folder.
    share: () => Promise.resolve(),
    dropExpired: () => inTurn.run(maintenance.dropExpired),
    dropDevices: (deviceIds) => inTurn.run(() => maintenance.dropDevices(deviceIds)),
    get bytes() {
      return maintenance.bytesHeld();
    },
    close: () => inTurn.run(() => writer.close()),
  };
}

interface MaintenanceParts {
  readonly options: EmbeddedUplinksOptions;
  readonly limits: RawUplinkLimits;
  /** In the order of writing; changed in place. */
  readonly closed: ClosedSegment[];
  readonly writer: SegmentWriter;
  readonly dropping: SegmentDropping;
}

interface Maintenance extends Pick<RawUplinkStore, 'dropExpired' | 'dropDevices'> {
  /** Closes the open segment when it is long, or its first uplink came before the time. */
  closeFull(olderThan: EpochMs): Promise<void>;
  bytesHeld(): number;
}

function createMaintenance(parts: MaintenanceParts): Maintenance {
  const { limits, closed, writer, dropping } = parts;
  const { now, retentionMs, bytesMax } = parts.options;

  async function closeOpen(): Promise<void> {
    const segment = await writer.closeSegment();
    if (segment !== undefined) closed.push(closedSegment(segment));
  }

  async function closeFull(olderThan: EpochMs): Promise<void> {
    if (writer.isFull(olderThan)) await closeOpen();
  }

  function bytesHeld(): number {
    return closed.reduce((sum, { bytes }) => sum + bytes, 0) + (writer.segment?.bytes ?? 0);
  }

  return {
    closeFull,
    bytesHeld,
    async dropExpired() {
      let bytes = 0;
      await closeFull(now() - retentionMs / limits.segmentsInRetention);
      for (const segment of closed.filter(({ to }) => to < now() - retentionMs))
        bytes += await dropping.drop(segment);
      for (const segment of [...closed]) {
        if (bytesHeld() <= bytesMax) break;
        bytes += await dropping.drop(segment);
      }
      return bytes;
    },
    async dropDevices(deviceIds) {
      if (hasSome(writer, deviceIds)) {
        await writer.sync();
        await closeOpen();
      }
      let uplinks = 0;
      for (const segment of [...closed]) uplinks += await dropping.dropDevices(segment, deviceIds);
      for (const segment of closed.filter(({ head }) => head.uplinks === 0))
        await dropping.drop(segment);
      return uplinks;
    },
  };
}

/** Whether what is open has uplinks of some of the devices. */
function hasSome({ segment, lines }: SegmentWriter, deviceIds: ReadonlySet<string>): boolean {
  const ids = [...deviceIds];
  return (
    ids.some((id) => segment?.contents.devices.has(id)) ||
    lines.some((line) => ids.some((id) => isLineOf(line, id)))
  );
}

// Segment dropping: removes a closed segment of raw uplinks, or the uplinks of some devices from it.

interface SegmentDropping {
  /** Removes the segment. Returns how many bytes it had. */
  drop(segment: ClosedSegment): Promise<number>;
  /** Writes the segment without the devices. Returns how many uplinks that removed. */
  dropDevices(segment: ClosedSegment, deviceIds: ReadonlySet<string>): Promise<number>;
}

interface DroppingParts {
  readonly directory: string;
  /** Changed in place. */
  readonly closed: ClosedSegment[];
  readonly tables: TableCache;
  readonly damaged: (damage: RawUplinkDamage) => void;
}

/** Calls are not to overlap. */
function createDropping({ directory, closed, tables, damaged }: DroppingParts): SegmentDropping {
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

// Reading raw uplinks of one device, newest first: whole blocks are passed over by their counts, the others read.

interface RawUplinkSources {
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

async function listNewestFirst(
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

// Segment finding: at a start, the closed segments of raw uplinks and the one left open.

interface FindingOptions {
  readonly directory: string;
  /**
   * The journal gives uplinks again from this position on; undefined when nothing was ever
   * followed.
   */
  readonly followedFrom: number | undefined;
  /**
   * Whether the journal lost some of the entries from a position on and before another; what it
   * cannot give again is not cut off.
   */
  readonly isLost?: (from: number, to: number) => boolean;
  /** Call for bytes that cannot be read, found when opening or reading. */
  readonly damaged: (damage: RawUplinkDamage) => void;
}

interface RawUplinkSegments
  extends Pick<SegmentWriterParts, 'resume' | 'sequence' | 'lastPosition'> {
  /** In the order of writing. */
  readonly closed: ClosedSegment[];
}

/** Reads the folder, and calls `damaged` for what is missing or cannot be read. */
async function findSegments(options: FindingOptions): Promise<RawUplinkSegments> {
  const { directory, damaged } = options;
  const { closed, left } = await openClosedSegments(directory, damaged);
  const mark = await readDurableMark(directory);
  const found = left === undefined ? undefined : await foundOpen(left, directory, mark);
  const halved = found && (await closedShort(found, mark, options));
  if (halved !== undefined) closed.push(halved);
  const isOpenThere =
    left !== undefined || closed.some(({ sequence }) => sequence === mark?.sequence);
  if (mark !== undefined && !isOpenThere) damaged(missingSegment(directory, mark));
  const resume =
    found === undefined || halved !== undefined ? undefined : await resumed(found, options);
  const files = await listSegmentFiles(directory);
  const newest = resume?.contents ?? closed.at(-1)?.head;
  const positions = closed.map(({ head }) => head.lastPosition);
  return {
    closed,
    resume,
    sequence: (files.at(-1)?.sequence ?? 0) + 1,
    lastPosition: Math.max(newest?.lastPosition ?? -1, ...positions),
  };
}

/** The segment that was open. It is read once: of a busy platform it has 350,000 uplinks. */
interface FoundOpen {
  readonly name: SegmentName;
  readonly bytes: number;
  /** Bytes that were synced; unlimited when nobody knows. */
  readonly synced: number;
  readonly scanned: ScannedSegment;
}

async function foundOpen(
  path: string,
  directory: string,
  mark: DurableMark | undefined,
): Promise<FoundOpen> {
  const names = await listSegmentFiles(directory);
  const name = names.find((each) => each.path === path) ?? missing('segment that was open');
  const { size: bytes } = await stat(path);
  const synced = syncedOf(name, mark);
  return { name, bytes, synced, scanned: await scanSegmentFile(path, bytes, { synced }) };
}

/**
 * The open segment when it is shorter than what was synced of it: reported as damage and closed as
 * it is, so that nothing is cut off it. Undefined for a complete segment.
 */
async function closedShort(
  { name, bytes, scanned }: FoundOpen,
  mark: DurableMark | undefined,
  { directory, damaged }: FindingOptions,
): Promise<ClosedSegment | undefined> {
  if (mark === undefined || mark.sequence !== name.sequence) return undefined;
  if (scanned.end >= mark.bytes) return undefined;
  const { path } = name;
  scanned.damage.forEach(damaged);
  damaged({ path, offset: scanned.end, bytes: mark.bytes - scanned.end });
  await replaceFile(indexPath(path), encodeIndex(scanned.contents));
  await removeDurableMark(directory);
  return closedSegment({ ...name, contents: scanned.contents, bytes });
}

/**
 * What a stop left open. After a crash, blocks that the journal gives again are cut off, since not
 * all of them need be there. Where the journal lost some of it, all blocks stay, and what it gives
 * again is skipped.
 */
async function resumed(
  { name, bytes, synced, scanned: whole }: FoundOpen,
  { followedFrom, isLost = () => false, damaged }: FindingOptions,
): Promise<WrittenSegment> {
  const end = whole.contents.lastPosition + 1;
  const isCut = followedFrom !== undefined && followedFrom < end && !isLost(followedFrom, end);
  const scanned = isCut
    ? await scanSegmentFile(name.path, bytes, { synced, before: followedFrom })
    : whole;
  scanned.damage.forEach(damaged);
  return { ...name, contents: scanned.contents, bytes: scanned.end, synced };
}
