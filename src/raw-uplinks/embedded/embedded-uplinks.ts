// Raw uplinks in files of the data folder: appended in journal order, dropped by age, size and device.
import { makeFolder } from '../../log/durable-file.ts';
import type { EpochMs } from '../../model/instant.ts';
import { createSerialQueue } from '../../structures/serial-queue.ts';
import { isLineOf } from '../raw-uplink-line.ts';
import type { RawUplinkStore } from '../raw-uplink-store.ts';
import { listNewestFirst } from './block-reader.ts';
import { type ClosedSegment, closedSegment } from './closed-segments.ts';
import { type RawUplinkLimits, rawUplinkLimits } from './raw-uplink-limits.ts';
import { createDropping, type SegmentDropping } from './segment-dropping.ts';
import { type FindingOptions, findSegments } from './segment-finding.ts';
import { readTable } from './segment-index.ts';
import { SegmentWriter } from './segment-writer.ts';
import { createTableCache } from './table-cache.ts';

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
  readonly options: Pick<EmbeddedUplinksOptions, 'now' | 'retentionMs' | 'bytesMax'>;
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
