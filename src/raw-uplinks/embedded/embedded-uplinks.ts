// Raw uplink store: appended in journal order, read newest first, dropped by age, size and device.
import { makeFolder } from '../log/durable-file.ts';
import type { EpochMs } from '../model/instant.ts';
import type { RawUplink } from '../model/raw-uplink.ts';
import { createSerialQueue } from '../structures/serial-queue.ts';
import { isLineOf } from './block.ts';
import { listNewestFirst, type RawUplinkPage, type RawUplinkRange } from './block-reader.ts';
import { type ClosedSegment, closedSegment } from './closed-segments.ts';
import { type RawUplinkLimits, rawUplinkLimits } from './raw-uplink-limits.ts';
import { createDropping, type SegmentDropping } from './segment-dropping.ts';
import { type FindingOptions, findSegments } from './segment-finding.ts';
import { readTable } from './segment-index.ts';
import { SegmentWriter } from './segment-writer.ts';
import { createTableCache } from './table-cache.ts';

export interface RawUplinkStoreOptions extends FindingOptions {
  readonly now: () => EpochMs;
  readonly retentionMs: number;
  readonly bytesMax: number;
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
  /** Drops what is past the retention or too much. Returns the number of freed bytes. */
  dropExpired(): Promise<number>;
  /** Drops everything of these devices. Says how many uplinks that were. */
  dropDevices(deviceIds: ReadonlySet<string>): Promise<number>;
  readonly bytes: number;
  close(): Promise<void>;
}

/** Opens or creates the store of the folder. */
export async function openRawUplinkStore(options: RawUplinkStoreOptions): Promise<RawUplinkStore> {
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
    dropExpired: () => inTurn.run(maintenance.dropExpired),
    dropDevices: (deviceIds) => inTurn.run(() => maintenance.dropDevices(deviceIds)),
    get bytes() {
      return maintenance.bytesHeld();
    },
    close: () => inTurn.run(() => writer.close()),
  };
}

interface MaintenanceParts {
  readonly options: Pick<RawUplinkStoreOptions, 'now' | 'retentionMs' | 'bytesMax'>;
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
