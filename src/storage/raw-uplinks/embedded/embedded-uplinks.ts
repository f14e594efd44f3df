// Raw uplinks in files of the data folder: appended in journal order, dropped by age, size and device.
import { type FileHandle, open, stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EpochMs } from '../../../model/instant.ts';
import type { RawUplink } from '../../../model/uplink.ts';
import { missing } from '../../../structures/missing.ts';
import { createSerialQueue } from '../../../structures/work-queues.ts';
import {
  type BlockDamage,
  listSegments,
  openExisting,
  removeSegment,
  SegmentAppender,
} from '../../block-log/segment-files.ts';
import { type Disk, makeFolder, realDisk } from '../../log/durable-file.ts';
import {
  deviceOfLine,
  isLineOf,
  linePartsOf,
  outcomeBytesMax,
  type RawUplinkPage,
  type RawUplinkRange,
  type RawUplinkStore,
  type ReceivedUplinks,
  uplinkOf,
} from '../raw-uplink-store.ts';
import {
  type BlockCount,
  blockOf,
  type BlockPlace,
  type ClosedSegment,
  closeSegment,
  copySegment,
  type FindingOptions,
  findSegments,
  type FoundSegments,
  type LineHead,
  linesOf,
  readLines,
  refuseOtherBlock,
  removeDurableMark,
  SegmentContents,
  SegmentIndexes,
  segmentName,
  segmentSuffix,
  writeDurableMark,
  type WrittenSegment,
} from './uplink-segment.ts';
import { scanFrames } from '../../log/frame.ts';

// Segment writer: gathers raw uplinks into blocks of a file, syncs it and closes it with its index.

/** The limits of raw uplinks in files, by name; tests make them small. */
const rawUplinkLimits = {
  /** Uplinks are compressed together when so many bytes of them have come together. */
  blockBytes: 256 * 1024,
  /** A segment is closed when it is longer; the unit in which old uplinks are dropped. */
  segmentBytes: 16 * 1024 * 1024,
  /**
   * A segment is closed when its first uplink is older than this part of the retention, so that few
   * stay longer than they must.
   */
  segmentsInRetention: 28,
  /**
   * What was written is synced after so many bytes or so long; until then the journal holds it too.
   */
  unsyncedBytesMax: 8 * 1024 * 1024,
  unsyncedMsMax: 30_000,
  outcomeBytesMax,
  /** Device tables of closed segments held in memory. */
  tableCacheBytes: 32 * 1024 * 1024,
} as const;

type RawUplinkLimits = { readonly [K in keyof typeof rawUplinkLimits]: number };

const firstBytes = 64 * 1024;
/** More memory is given back at once, */
const reusedBytesMax = 8 * 1024 * 1024;
/** and more than this when it was not needed for so many blocks. */
const keptBytesMax = 1024 * 1024;
const unneededMax = 16;
const lineFeed = 0x0a;
/** Characters of lines that are added in one turn of the event loop. */
const charsPerTurn = 256 * 1024;
/** The bytes of longer lines are counted, those of shorter ones at their most. */
const shortLineMax = 4_096;

/**
 * Lines as the bytes of a block. Thousands of strings that live for a second are copied twice by the
 * garbage collector; these bytes are written once.
 */
class LineBytes {
  #block = Buffer.allocUnsafe(firstBytes);
  #end = 0;
  #unneeded = 0;

  /** Valid until the next line is added. */
  get bytes(): Buffer {
    return this.#block.subarray(0, this.#end);
  }

  lines(): string[] {
    return this.#end === 0 ? [] : this.bytes.toString('utf8').split('\n');
  }

  /** Adds a line, which is given in parts. Says how many characters it has. */
  add(line: readonly string[]): number {
    const chars = line.reduce((sum, { length }) => sum + length, 0);
    const isShort = chars <= shortLineMax;
    const parts = isShort ? [line.join('')] : line;
    const bytesMax = isShort
      ? chars * 3
      : parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
    this.#makeRoom(1 + bytesMax);
    if (this.#end > 0) this.#block[this.#end++] = lineFeed;
    for (const part of parts) this.#end += this.#block.write(part, this.#end, 'utf8');
    return chars;
  }

  clear(): void {
    const { length } = this.#block;
    this.#unneeded = this.#end > length / 4 ? 0 : this.#unneeded + 1;
    this.#end = 0;
    if (length <= keptBytesMax) return;
    if (length <= reusedBytesMax && this.#unneeded <= unneededMax) return;
    this.#block = Buffer.allocUnsafe(firstBytes);
  }

  #makeRoom(bytes: number): void {
    if (this.#end + bytes <= this.#block.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#end + bytes));
    this.#block.copy(larger, 0, 0, this.#end);
    this.#block = larger;
  }
}

/**
 * Everything here is called by one caller at a time. What fails may be called again and goes on
 * where it stopped.
 */
class SegmentWriter {
  readonly #directory: string;
  readonly #limits: RawUplinkLimits;
  readonly #now: () => EpochMs;
  readonly #disk: Disk;
  #open: SegmentAppender<WrittenSegment> | undefined;
  #nextNumber: number;
  readonly #lines = new LineBytes();
  /** Of the same lines. */
  #heads: LineHead[] = [];
  readonly #newest = { position: -1, receivedAt: 0 };
  #lastPosition: number;
  #unsyncedBytes = 0;
  #unsyncedSince: EpochMs | undefined;
  /** Uplinks before it were added, and those before the other are on disk. */
  #seen = 0;
  #durable = 0;

  constructor(
    directory: string,
    limits: RawUplinkLimits,
    now: () => EpochMs,
    disk: Disk,
    found: FoundSegments,
  ) {
    this.#directory = directory;
    this.#limits = limits;
    this.#now = now;
    this.#disk = disk;
    this.#nextNumber = found.nextNumber;
    this.#lastPosition = found.lastPosition;
  }

  /** Continues a segment that was left open, its torn tail cut off. */
  async continue(segment: WrittenSegment): Promise<void> {
    if (segment.bytes < segment.synced) {
      // Before what is cut off is missing.
      const file = await open(segment.path, 'r+');
      try {
        await file.datasync();
      } finally {
        await file.close();
      }
      segment.synced = segment.bytes;
      await this.#mark(segment);
    }
    this.#open = await SegmentAppender.open(segment, this.#disk);
  }

  /** Lines that are in no block yet, oldest first. */
  get lines(): readonly string[] {
    return this.#lines.lines();
  }

  /** The segment that is being written; undefined before its first block. */
  get segment(): WrittenSegment | undefined {
    return this.#open?.segment;
  }

  /** Every uplink before this position is on disk. */
  get durable(): number {
    return this.#durable;
  }

  /**
   * Adds uplinks; those that came before are passed over. `through` is the position behind
   * everything that was looked at.
   */
  async add(uplinks: readonly RawUplink[], through: number): Promise<void> {
    if (this.#hasFullBlock()) await this.#flush();
    let chars = 0;
    for (const uplink of uplinks) {
      if (uplink.position <= this.#lastPosition) continue;
      if (chars >= charsPerTurn) {
        await nextTurn();
        chars = 0;
      }
      chars += this.#lines.add(linePartsOf(uplink, this.#limits.outcomeBytesMax));
      this.#heads.push({ deviceId: uplink.deviceId, receivedAt: uplink.receivedAt });
      this.#lastPosition = uplink.position;
      this.#newest.position = uplink.position;
      this.#newest.receivedAt = Math.max(uplink.receivedAt, this.#newest.receivedAt);
      this.#unsyncedSince ??= this.#now();
      if (this.#hasFullBlock()) await this.#flush();
    }
    this.#seen = through;
    if (this.#unsyncedSince === undefined) this.#durable = through;
    else if (this.#unsyncedBytes >= this.#limits.unsyncedBytesMax) await this.sync();
  }

  #hasFullBlock(): boolean {
    return this.#lines.bytes.length >= this.#limits.blockBytes;
  }

  async #flush(): Promise<void> {
    const { bytes } = this.#lines;
    if (bytes.length === 0) return;
    const { position } = this.#newest;
    const frame = await blockOf(bytes, this.#newest);
    this.#open ??= await this.#create();
    const at = { offset: await this.#open.append(frame), bytes: frame.length };
    this.#open.segment.contents.add(at, this.#heads, position);
    this.#unsyncedBytes += frame.length;
    this.#lines.clear();
    this.#heads = [];
  }

  async #create(): Promise<SegmentAppender<WrittenSegment>> {
    const name = segmentName(this.#directory, this.#nextNumber, 0);
    const segment = { ...name, contents: new SegmentContents(), bytes: 0, synced: 0 };
    const file = await SegmentAppender.open(segment, this.#disk);
    this.#nextNumber += 1;
    try {
      await this.#mark(segment);
    } catch (error) {
      await file.close();
      throw error;
    }
    return file;
  }

  /** Notes how many bytes of the segment are on the disk. */
  async #mark({ number, synced }: WrittenSegment): Promise<void> {
    await writeDurableMark(this.#directory, { sequence: number, bytes: synced });
  }

  /** Makes everything added so far durable. */
  async sync(): Promise<void> {
    const seen = this.#seen;
    await this.#flush();
    if (this.#open !== undefined && this.#unsyncedBytes > 0) {
      await this.#open.sync();
      await this.#mark(this.#open.segment);
    }
    this.#unsyncedBytes = 0;
    this.#unsyncedSince = undefined;
    this.#durable = seen;
  }

  /** Syncs when what was added first has waited for long enough. */
  async syncWhenDue(): Promise<void> {
    const since = this.#unsyncedSince;
    if (since !== undefined && this.#now() - since >= this.#limits.unsyncedMsMax) await this.sync();
  }

  /** Whether the segment must be closed: it is long, or its first uplink is older than the time. */
  isFull(olderThan: EpochMs): boolean {
    const { segment } = this;
    if (segment === undefined) return false;
    return (
      segment.bytes >= this.#limits.segmentBytes ||
      (segment.contents.blocks[0]?.from ?? olderThan) < olderThan
    );
  }

  /** Closes the segment, with its index, and hands it over. */
  async closeSegment(): Promise<ClosedSegment | undefined> {
    await this.sync();
    const file = this.#open;
    if (file === undefined) return undefined;
    const closed = await closeSegment(file.segment, file.segment.contents, file.segment.bytes);
    await file.close();
    await removeDurableMark(this.#directory);
    this.#open = undefined;
    return closed;
  }

  /** Makes everything durable; the segment stays open for the next start. */
  async close(): Promise<void> {
    try {
      await this.sync();
    } finally {
      await this.#open?.close();
      this.#open = undefined;
    }
  }
}

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

// Reading a folder for a move to another store.

/**
 * All uplinks in journal order, in batches of one block. Opens the store first, which removes what
 * a crash left over. What the journal gives again after a start may be missing.
 */
export async function* storedUplinks(
  directory: string,
  damaged: (damage: BlockDamage) => void,
): AsyncGenerator<readonly RawUplink[]> {
  const store = await EmbeddedUplinks.open({
    directory,
    damaged,
    followedFrom: undefined,
    now: () => 0,
    retentionMs: Number.POSITIVE_INFINITY,
    bytesMax: Number.POSITIVE_INFINITY,
  });
  await store.close();
  for (const { path } of await listSegments(directory, segmentSuffix)) {
    const { size } = await stat(path);
    for await (const { frames, damage } of scanFrames(path, 0, size)) {
      if (damage !== undefined && frames.length > 0) damaged({ path, ...damage });
      for (const { type, payload } of frames) {
        refuseOtherBlock(path, type);
        yield linesOf(payload).map(uplinkOf);
      }
    }
  }
}
