// Raw uplinks in files of the data folder: appended in journal order, dropped by age, size and device.
import type { FileHandle } from 'node:fs/promises';
import type { EpochMs } from '../../../model/instant.ts';
import type { RawUplink } from '../../../model/uplink.ts';
import { missing } from '../../../structures/missing.ts';
import { createSerialQueue } from '../../../structures/serial-queue.ts';
import { type BlockDamage, openExisting, removeSegment } from '../../block-log/segment-files.ts';
import { type Disk, realDisk } from '../../log/disk.ts';
import { makeFolder } from '../../log/durable-file.ts';
import { deviceOfLine, isLineOf, uplinkOf } from '../raw-uplink-line.ts';
import type {
  RawUplinkPage,
  RawUplinkRange,
  RawUplinkStore,
  ReceivedUplinks,
} from '../raw-uplink-store.ts';
import { type FindingOptions, findSegments, type FoundSegments } from './found-segments.ts';
import { type ClosedSegment, closeSegment, SegmentIndexes } from './segment-index.ts';
import { type RawUplinkLimits, rawUplinkLimits, SegmentWriter } from './segment-writer.ts';
import {
  type BlockCount,
  type BlockPlace,
  copySegment,
  readLines,
  segmentName,
} from './uplink-segment.ts';

export interface EmbeddedUplinksOptions extends FindingOptions {
  readonly now: () => EpochMs;
  readonly retentionMs: number;
  readonly bytesMax: number;
  readonly limits?: Partial<RawUplinkLimits>;
  readonly disk?: Disk;
}

/** The blocks of a segment with uplinks of one device. */
interface DeviceBlocks {
  readonly path: string;
  readonly blocks: readonly BlockPlace[];
  readonly counts: readonly BlockCount[];
}

export class EmbeddedUplinks implements RawUplinkStore {
  readonly #options: EmbeddedUplinksOptions;
  readonly #limits: RawUplinkLimits;
  /** In the order of writing. */
  readonly #closed: ClosedSegment[];
  readonly #writer: SegmentWriter;
  readonly #indexes: SegmentIndexes;
  readonly #turns = createSerialQueue();

  private constructor(options: EmbeddedUplinksOptions, found: FoundSegments) {
    const { directory, now, disk = realDisk } = options;
    this.#options = options;
    this.#limits = { ...rawUplinkLimits, ...options.limits };
    this.#closed = found.closed;
    this.#writer = new SegmentWriter(directory, this.#limits, now, disk, found);
    this.#indexes = new SegmentIndexes(this.#limits.tableCacheBytes);
  }

  /** Opens or creates the store of the folder. Throws OtherFormatError for files of another format. */
  static async open(options: EmbeddedUplinksOptions): Promise<EmbeddedUplinks> {
    await makeFolder(options.directory);
    const found = await findSegments(options);
    const store = new EmbeddedUplinks(options, found);
    if (found.open !== undefined) await store.#writer.continue(found.open);
    return store;
  }

  add(uplinks: readonly RawUplink[], through: number): Promise<void> {
    return this.#turns.run(async () => {
      await this.#writer.add(uplinks, through);
      await this.#closeFull(Number.NEGATIVE_INFINITY);
    });
  }

  get durable(): number {
    return this.#writer.durable;
  }

  syncWhenDue(): Promise<void> {
    return this.#turns.run(() => this.#writer.syncWhenDue());
  }

  /** Only this process reads the folder. */
  async share(): Promise<void> {}

  get bytes(): number {
    const open = this.#writer.segment?.bytes ?? 0;
    return this.#closed.reduce((sum, { bytes }) => sum + bytes, open);
  }

  close(): Promise<void> {
    return this.#turns.run(() => this.#writer.close());
  }

  // Dropping.

  dropExpired(): Promise<number> {
    return this.#turns.run(async () => {
      const { now, retentionMs, bytesMax } = this.#options;
      await this.#closeFull(now() - retentionMs / this.#limits.segmentsInRetention);
      let bytes = 0;
      for (const segment of this.#closed.filter(({ to }) => to < now() - retentionMs))
        bytes += await this.#drop(segment);
      for (const segment of [...this.#closed]) {
        if (this.bytes <= bytesMax) break;
        bytes += await this.#drop(segment);
      }
      return bytes;
    });
  }

  dropDevices(deviceIds: ReadonlySet<string>): Promise<number> {
    return this.#turns.run(async () => {
      if (this.#isOpenFor(deviceIds)) await this.#closeOpen();
      return this.#remove(deviceIds, () => true);
    });
  }

  removeReceived({ deviceId, from, to }: ReceivedUplinks): Promise<number> {
    const deviceIds = new Set([deviceId]);
    return this.#turns.run(async () => {
      if (this.#isOpenFor(deviceIds)) await this.#closeOpen();
      return this.#remove(deviceIds, (line) => {
        const { receivedAt } = uplinkOf(line);
        return receivedAt >= from && receivedAt < to;
      });
    });
  }

  async #remove(
    deviceIds: ReadonlySet<string>,
    isRemoved: (line: string) => boolean,
  ): Promise<number> {
    let uplinks = 0;
    for (const segment of [...this.#closed])
      uplinks += await this.#without(segment, deviceIds, isRemoved);
    for (const segment of this.#closed.filter(({ head }) => head.uplinks === 0))
      await this.#drop(segment);
    return uplinks;
  }

  /** Closes the open segment when it is long, or its first uplink came before the time. */
  async #closeFull(olderThan: EpochMs): Promise<void> {
    if (this.#writer.isFull(olderThan)) await this.#closeOpen();
  }

  async #closeOpen(): Promise<void> {
    const segment = await this.#writer.closeSegment();
    if (segment !== undefined) this.#closed.push(segment);
  }

  /** Whether what is open has uplinks of some of the devices. */
  #isOpenFor(deviceIds: ReadonlySet<string>): boolean {
    const { segment, lines } = this.#writer;
    return [...deviceIds].some(
      (id) => segment?.contents.devices.has(id) || lines.some((line) => isLineOf(line, id)),
    );
  }

  /** Removes the segment. Returns how many bytes it had. */
  async #drop(segment: ClosedSegment): Promise<number> {
    this.#closed.splice(this.#closed.indexOf(segment), 1);
    this.#indexes.forget(segment.path);
    await removeSegment(segment.path);
    return segment.bytes;
  }

  /** Writes the segment without these uplinks of the devices. Returns how many that removed. */
  async #without(
    segment: ClosedSegment,
    deviceIds: ReadonlySet<string>,
    isRemoved: (line: string) => boolean,
  ): Promise<number> {
    const { path, number, generation, head } = segment;
    if (!(await this.#indexes.mayHave(path, deviceIds))) return 0;
    const next = segmentName(this.#options.directory, number, generation + 1);
    const copy = await copySegment(
      path,
      head.blocks,
      next.path,
      (line) => !deviceIds.has(deviceOfLine(line)) || !isRemoved(line),
    );
    copy.damage.forEach(this.#options.damaged);
    const written = await closeSegment(next, copy.contents, copy.bytes);
    this.#closed[this.#closed.indexOf(segment)] = written;
    this.#indexes.forget(path);
    await removeSegment(path);
    return head.uplinks - written.head.uplinks;
  }

  // Listing: whole blocks are passed over by their counts, the others read.

  async list(range: RawUplinkRange): Promise<RawUplinkPage> {
    const { now, retentionMs } = this.#options;
    const { deviceId, skip, limit, to = Number.POSITIVE_INFINITY } = range;
    const from = Math.max(range.from ?? Number.NEGATIVE_INFINITY, now() - retentionMs);
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

    const takeBlocks = async ({ path, blocks, counts }: DeviceBlocks): Promise<void> => {
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
          // Undefined for a segment that was dropped meanwhile.
          file ??= await openExisting(path);
          if (file === undefined) return;
          const lines = await readLines(file, place);
          if (lines === undefined) this.#damaged(path, place);
          else take(lines);
        }
      } finally {
        await file?.close();
      }
    };

    // What is open may move on while blocks are read, so its counts are copied now.
    const lines = [...this.#writer.lines];
    const open = this.#openBlocks(deviceId);
    const closed = this.#closed.toReversed();
    take(lines);
    if (open !== undefined) await takeBlocks(open);
    for (const segment of closed)
      if (segment.to >= from) await takeBlocks(await this.#closedBlocks(segment, deviceId));
    return { uplinks, total };
  }

  #damaged(path: string, { offset, bytes }: BlockPlace): void {
    const damage: BlockDamage = { path, offset, bytes };
    this.#options.damaged(damage);
  }

  #openBlocks(deviceId: string): DeviceBlocks | undefined {
    const { segment } = this.#writer;
    if (segment === undefined) return undefined;
    const { blocks, devices } = segment.contents;
    return { path: segment.path, blocks, counts: [...(devices.get(deviceId) ?? [])] };
  }

  async #closedBlocks({ path, head }: ClosedSegment, deviceId: string): Promise<DeviceBlocks> {
    const { blocks } = head;
    const counts = await this.#indexes.countsOf(path, deviceId);
    // Without a sound index every block is looked into; their counts are not known, so none can be
    // passed over.
    const all = blocks.map((_, block) => ({ block, count: Number.POSITIVE_INFINITY }));
    return { path, blocks, counts: counts ?? all };
  }
}
