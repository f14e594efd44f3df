// The raw uplinks of the retention, on disk: appended in the order of the journal, read by device newest first, dropped by age, size and device.
import { stat } from 'node:fs/promises';
import { makeFolder, replaceFile } from '../log/durable-file.ts';
import type { EpochMs } from '../model/instant.ts';
import type { RawUplink } from '../model/raw-uplink.ts';
import { compressLines, deviceOfLine, isLineOf } from './block.ts';
import { type RawUplinkLimits, rawUplinkLimits } from './raw-uplink-limits.ts';
import { type ClosedSegment, openClosedSegments } from './closed-segments.ts';
import {
  type DurableMark,
  missingSegment,
  readDurableMark,
  removeDurableMark,
} from './durable-mark.ts';
import { listNewestFirst, type RawUplinkPage, type RawUplinkRange } from './block-reader.ts';
import {
  copySegment,
  indexPath,
  listSegmentFiles,
  type RawUplinkDamage,
  removeSegmentFile,
  type SegmentName,
  scanSegmentFile,
  segmentName,
} from './segment-file.ts';
import { encodeIndex, readTable } from './segment-index.ts';
import { SegmentWriter, type WrittenSegment } from './segment-writer.ts';
import { createTableCache } from './table-cache.ts';
import { missing } from '../structures/missing.ts';

export interface RawUplinkStoreOptions {
  readonly directory: string;
  readonly now: () => EpochMs;
  readonly retentionMs: number;
  readonly bytesMax: number;
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
  /** Is told of bytes that cannot be read, when opening and when reading meets them. */
  readonly damaged: (damage: RawUplinkDamage) => void;
  readonly limits?: Partial<RawUplinkLimits>;
}

export interface RawUplinkStore {
  /**
   * Adds uplinks in the order of the journal; `through` is the position behind everything that was
   * looked at.
   */
  add(uplinks: readonly RawUplink[], through: number): Promise<void>;
  /** Every uplink before this journal position is on disk. */
  readonly durable: number;
  /** Newest first; nothing older than the retention. */
  list(range: RawUplinkRange): Promise<RawUplinkPage>;
  /** To be called every few seconds: makes durable what has waited for long enough. */
  syncWhenDue(): Promise<void>;
  /** Drops what is past the retention or too much. Says how many bytes that gave back. */
  dropExpired(): Promise<number>;
  /** Drops everything of these devices. Says how many uplinks that were. */
  dropDevices(deviceIds: ReadonlySet<string>): Promise<number>;
  readonly bytes: number;
  close(): Promise<void>;
}

/** Opens or creates the store of the folder. */
export async function openRawUplinkStore(options: RawUplinkStoreOptions): Promise<RawUplinkStore> {
  const { directory, now, retentionMs, bytesMax, damaged } = options;
  const limits: RawUplinkLimits = { ...rawUplinkLimits, ...options.limits };
  await makeFolder(directory);
  const { closed, left } = await openClosedSegments(directory, damaged);
  const mark = await readDurableMark(directory);
  const halved = left === undefined ? undefined : await closedShort(left, mark, options);
  if (halved !== undefined) closed.push(halved);
  const isOpenThere =
    left !== undefined || closed.some(({ sequence }) => sequence === mark?.sequence);
  if (mark !== undefined && !isOpenThere) damaged(missingSegment(directory, mark));
  const resume =
    left === undefined || halved !== undefined ? undefined : await resumed(left, options);
  const files = await listSegmentFiles(directory);
  const newest = resume?.contents ?? closed.at(-1)?.head;
  const writer = new SegmentWriter({
    directory,
    limits,
    now,
    sequence: (files.at(-1)?.sequence ?? 0) + 1,
    resume,
    lastPosition: Math.max(
      newest?.lastPosition ?? -1,
      ...closed.map(({ head }) => head.lastPosition),
    ),
  });
  await writer.resume();
  const tables = createTableCache(limits.tableCacheBytes, readTable);
  let tail: Promise<unknown> = Promise.resolve();

  /** Whatever writes does so one after the other. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = tail.then(work, work);
    tail = turn.catch(() => undefined);
    return turn;
  };

  const closeFull = async (olderThan: EpochMs): Promise<void> => {
    if (!writer.isFull(olderThan)) return;
    const segment = await writer.closeSegment();
    if (segment !== undefined) closed.push(closedSegment(segment));
  };

  const drop = async (segment: ClosedSegment): Promise<number> => {
    closed.splice(closed.indexOf(segment), 1);
    tables.forget(segment.path);
    await removeSegmentFile(segment);
    return segment.bytes;
  };

  const bytesHeld = (): number =>
    closed.reduce((sum, { bytes }) => sum + bytes, 0) + (writer.segment?.bytes ?? 0);

  const withoutDevices = async (
    segment: ClosedSegment,
    gone: ReadonlySet<string>,
  ): Promise<number> => {
    const table = await tables.get(segment.path);
    // A table that cannot be read may hold any of them.
    if (table !== undefined && ![...gone].some((id) => table.includes(id, 0, 'latin1'))) return 0;
    const next = segmentName(directory, segment.sequence, segment.generation + 1);
    const copy = await copySegment({
      from: segment.path,
      blocks: segment.head.blocks,
      to: next.path,
      keep: (line) => !gone.has(deviceOfLine(line)),
      compress: compressLines,
    });
    copy.damage.forEach(damaged);
    await replaceFile(indexPath(next.path), encodeIndex(copy.contents));
    const at = closed.indexOf(segment);
    closed[at] = closedSegment({ ...next, contents: copy.contents, bytes: copy.bytes });
    tables.forget(segment.path);
    await removeSegmentFile(segment);
    return segment.head.uplinks - copy.contents.uplinks;
  };

  return {
    add: (uplinks, through) =>
      inTurn(async () => {
        await writer.add(uplinks, through);
        await closeFull(Number.NEGATIVE_INFINITY);
      }),
    get durable() {
      return writer.durable;
    },
    list: (range) =>
      listNewestFirst(
        { ...range, from: Math.max(range.from ?? Number.NEGATIVE_INFINITY, now() - retentionMs) },
        { lines: [...writer.lines], open: writer.segment, closed: [...closed], tables, damaged },
      ),
    syncWhenDue: () => inTurn(() => writer.syncWhenDue()),
    dropExpired: () =>
      inTurn(async () => {
        let bytes = 0;
        await closeFull(now() - retentionMs / limits.segmentsInRetention);
        for (const segment of closed.filter(({ to }) => to < now() - retentionMs))
          bytes += await drop(segment);
        for (const segment of [...closed]) {
          if (bytesHeld() <= bytesMax) break;
          bytes += await drop(segment);
        }
        return bytes;
      }),
    dropDevices: (deviceIds) =>
      inTurn(async () => {
        const isOpen = [...deviceIds].some((id) => writer.segment?.contents.devices.has(id));
        if (
          isOpen ||
          writer.lines.some((line) => [...deviceIds].some((id) => isLineOf(line, id)))
        ) {
          await writer.sync();
          const segment = await writer.closeSegment();
          if (segment !== undefined) closed.push(closedSegment(segment));
        }
        let uplinks = 0;
        for (const segment of [...closed]) uplinks += await withoutDevices(segment, deviceIds);
        for (const segment of closed.filter(({ head }) => head.uplinks === 0)) await drop(segment);
        return uplinks;
      }),
    get bytes() {
      return bytesHeld();
    },
    close: () => inTurn(() => writer.close()),
  };
}

function closedSegment({ contents, ...name }: WrittenSegment): ClosedSegment {
  const { blocks, devices, uplinks, lastPosition } = contents;
  const head = { blocks, devices: devices.size, uplinks, lastPosition };
  return {
    ...name,
    head,
    to: blocks.reduce((to, block) => Math.max(to, block.to), Number.NEGATIVE_INFINITY),
  };
}

async function segmentNamed(directory: string, path: string): Promise<SegmentName> {
  const names = await listSegmentFiles(directory);
  return names.find((name) => name.path === path) ?? missing('segment that was open');
}

/**
 * The open segment when it is shorter than what was synced of it: told, and closed as it is, so
 * that nothing is cut off it; undefined when it is whole.
 */
async function closedShort(
  left: ClosedSegment['path'],
  mark: DurableMark | undefined,
  { directory, damaged }: RawUplinkStoreOptions,
): Promise<ClosedSegment | undefined> {
  const name = await segmentNamed(directory, left);
  if (mark === undefined || mark.sequence !== name.sequence) return undefined;
  const { size } = await stat(left);
  const scanned = await scanSegmentFile(left, size);
  if (scanned.end >= mark.bytes) return undefined;
  scanned.damage.forEach(damaged);
  damaged({ path: left, offset: scanned.end, bytes: mark.bytes - scanned.end });
  await replaceFile(indexPath(left), encodeIndex(scanned.contents));
  await removeDurableMark(directory);
  return closedSegment({ ...name, contents: scanned.contents, bytes: size });
}

/**
 * What a stop left open. After a crash, blocks that the journal gives again are cut off, since not
 * all of them need be there; where the journal lost some of it, all blocks stay, and what it gives
 * again is passed over.
 */
async function resumed(
  left: ClosedSegment['path'],
  options: RawUplinkStoreOptions,
): Promise<WrittenSegment | undefined> {
  const name = await segmentNamed(options.directory, left);
  const { followedFrom, isLost = () => false } = options;
  const { size } = await stat(left);
  const whole = await scanSegmentFile(left, size);
  const end = whole.contents.lastPosition + 1;
  const isCut = followedFrom !== undefined && followedFrom < end && !isLost(followedFrom, end);
  const scanned = isCut ? await scanSegmentFile(left, size, followedFrom) : whole;
  scanned.damage.forEach(options.damaged);
  return { ...name, contents: scanned.contents, bytes: scanned.end };
}
