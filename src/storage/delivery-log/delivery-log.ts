// Delivery log: outcomes of deliveries and deliveries that wait for long, in append-only segments (contract 35).
import { setImmediate as pause } from 'node:timers/promises';
import type { Disk } from '../log/disk.ts';
import { makeFolder } from '../log/durable-file.ts';
import type { EpochMs } from '../../model/instant.ts';
import { createBoundedMap } from '../../structures/bounded-map.ts';
import type { SetTimer } from '../../structures/timers.ts';
import { compact, type Needs } from './compaction.ts';
import { type DeliveryLogLimits, deliveryLogLimits } from './format.ts';
import { LogWriter } from './log-writer.ts';
import { findSegments, unlessDiskFull } from './open-segments.ts';
import { recordAt, type RecordPlace, type StoredDelivery } from './record.ts';
import { createRowReader, type RowReader } from './row-reader.ts';
import { type DeliveryLogDamage, readBlock, unreadableReason } from './segment.ts';

export interface DeliveryLogOptions {
  readonly directory: string;
  readonly now: () => EpochMs;
  readonly setTimer: SetTimer;
  /** Whether the folder had files before, so that an empty one is damage. */
  readonly expected: boolean;
  /** Throws Problem `storageFull` while only the records may be written. */
  readonly checkRoom?: () => void;
  /** Called for damage at the start, and when a read encounters it. */
  readonly damaged: (damage: DeliveryLogDamage) => void;
  /** Called for every failed write in the background, which is retried. */
  readonly failed: (error: unknown) => void;
  readonly limits?: Partial<DeliveryLogLimits>;
  readonly disk?: Disk;
}

export interface DeliveryLog extends Pick<RowReader, 'endedOf' | 'find'> {
  /** Whether the folder has files, which the next start can expect. */
  readonly isNoted: boolean;
  /** Adds the newest state of a delivery. It is listed immediately and written soon. */
  append(record: StoredDelivery): RecordPlace;
  /** Whether so much waits for the disk that no delivery should start. */
  readonly isBehind: boolean;
  /** Whether writing failed and is tried again by itself. */
  readonly isStuck: boolean;
  /** Whether something is not on the disk for certain. */
  readonly isUnsynced: boolean;
  /** Resolves when all that was added is in its file, where a kill of the process leaves it. */
  write(): Promise<void>;
  /** Resolves when all that was added is on the disk. */
  sync(): Promise<void>;
  /** Undefined when the record cannot be read, which is reported. */
  read(place: RecordPlace): Promise<StoredDelivery | undefined>;
  /** What a start must know, see `RowReader`. */
  recover: RowReader['recover'];
  /** Connectors with records. */
  connectorIds(): ReadonlySet<string>;
  readonly bytes: number;
  /** Of all segments, those of one delivery counted one by one. */
  readonly records: number;
  /** Removes segments that are no longer needed, after copying what is. */
  compact(needs: Needs): Promise<void>;
  close(): Promise<void>;
}

/** Opens or creates the log of the folder. Throws OtherFormatError for files of another format. */
export async function openDeliveryLog(options: DeliveryLogOptions): Promise<DeliveryLog> {
  const { directory, damaged } = options;
  const limits: DeliveryLogLimits = { ...deliveryLogLimits, ...options.limits };
  await makeFolder(directory);
  const { closed, open, nextNumber, damage } = await findSegments(directory, {
    repair: true,
    expected: options.expected,
  });
  for (const place of damage) damaged(place);
  const { now, setTimer, failed, checkRoom = () => undefined, disk } = options;
  const writer = new LogWriter({
    directory,
    limits,
    now,
    setTimer,
    failed,
    checkRoom,
    closed,
    nextNumber,
    resume: open,
    ...(disk !== undefined && { disk }),
  });
  const isNew = closed.length === 0 && open === undefined;
  const isNoted = isNew || damage.length > 0 ? await unlessDiskFull(writer.writeManifest()) : true;
  const blocks = createBlockCache(limits.blocksCached, damaged);
  const rows = createRowReader({ closed, writer, pause });

  async function read(place: RecordPlace): Promise<StoredDelivery | undefined> {
    if (place.waiting !== undefined) return place.waiting;
    const { segment, offset, at } = place;
    const path = [...closed, ...(writer.open === undefined ? [] : [writer.open])].find(
      ({ number }) => number === segment,
    )?.path;
    const block = path === undefined ? undefined : await blocks.read(path, offset);
    // It was moved while it was looked for.
    if (block === undefined && place.segment !== segment) return read(place);
    return block && recordAt(block, at);
  }

  return {
    isNoted,
    append: (record) => writer.append(record),
    get isBehind() {
      return writer.isBehind;
    },
    get isStuck() {
      return writer.isStuck;
    },
    get isUnsynced() {
      return writer.isUnsynced;
    },
    write: () => writer.write(),
    sync: () => writer.sync(),
    read,
    endedOf: rows.endedOf,
    find: rows.find,
    recover: rows.recover,
    connectorIds: () => rows.connectorIds(),
    get bytes() {
      return closed.reduce((sum, { bytes }) => sum + bytes, writer.open?.bytes ?? 0);
    },
    get records() {
      return closed.reduce((sum, { records }) => sum + records, writer.open?.records ?? 0);
    },
    compact: (needs) => compact(needs, { closed, writer, rows, read, limits, now }),
    close: () => writer.close(),
  };
}

// Block cache: the unpacked blocks that were read last, since neighbors are often read next.

interface BlockCache {
  /** Undefined when the block cannot be read, which is reported, or its segment was removed. */
  read(path: string, offset: number): Promise<Buffer | undefined>;
}

function createBlockCache(
  blocksMax: number,
  damaged: (damage: DeliveryLogDamage) => void,
): BlockCache {
  const blocks = createBoundedMap<string, Promise<Buffer | undefined>>(blocksMax);

  async function load(path: string, offset: number): Promise<Buffer | undefined> {
    try {
      const block = await readBlock(path, offset);
      if (block === undefined) damaged({ path, reason: unreadableReason(offset, 1) });
      return block;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  return {
    read(path, offset) {
      const key = `${path} ${offset}`;
      const known = blocks.use(key);
      if (known !== undefined) return known;
      const block = load(path, offset);
      blocks.set(key, block);
      // What failed is tried again.
      block.then(
        (found) => found === undefined && blocks.delete(key),
        () => blocks.delete(key),
      );
      return block;
    },
  };
}
