// Writer of the delivery log: collects records in blocks and appends blocks to the open segment.
import type { EpochMs } from '../../model/instant.ts';
import { createSerialQueue } from '../../structures/work-queues.ts';
import type { SetTimer } from '../../structures/timers.ts';
import { SegmentAppender } from '../block-log/segment-files.ts';
import { type Disk, realDisk } from '../log/durable-file.ts';
import {
  type BlockPlace,
  type DeliveryLogLimits,
  RecordBlock,
  type RecordPlace,
  type StoredDelivery,
} from './record.ts';
import {
  blockOf,
  ClosedSegment,
  type DeliveryLogDamage,
  type FoundSegments,
  Segment,
  segmentPath,
  writeManifest,
} from './segment.ts';
import { RecordRows } from './row-table.ts';

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

/**
 * Records that become one block: their bytes and their rows. No object is kept of a record, because
 * thousands wait at a time and the garbage collector would copy each.
 */
export interface Batch {
  readonly block: RecordBlock;
  readonly rows: RecordRows;
  readonly place: BlockPlace;
}

function newBatch(block = new RecordBlock()): Batch {
  return { block, rows: new RecordRows(), place: { segment: 0, offset: 0, unwritten: block } };
}

/** A larger block is not used again. */
const reusedBytesMax = 1024 * 1024;

/** Before the next attempt to write after the first, second, ... failure; the last one repeats. */
const retryDelaysMs = [1_000, 5_000, 30_000] as const;

export class LogWriter {
  readonly #options: DeliveryLogOptions;
  readonly #limits: DeliveryLogLimits;
  readonly #disk: Disk;
  readonly #turns = createSerialQueue();
  /** Complete segments, ascending by number. */
  readonly #closed: ClosedSegment[];
  #open: Segment | undefined;
  /** The file of the open segment; undefined before something is written to it. */
  #file: SegmentAppender<Segment> | undefined;
  #nextNumber: number;
  #next = newBatch();
  /** Full batches, oldest first. The first one may be in progress. */
  #full: Batch[] = [];
  /** A block that was written, for the next batch. */
  #spare: RecordBlock | undefined;
  #unwrittenBytes = 0;
  #isUnsynced = false;
  /** Consecutive failures to write in the background. */
  #failures = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(options: DeliveryLogOptions, limits: DeliveryLogLimits, found: FoundSegments) {
    this.#options = options;
    this.#limits = limits;
    this.#disk = options.disk ?? realDisk;
    this.#closed = found.closed;
    this.#open = found.open;
    this.#nextNumber = found.nextNumber;
  }

  get closed(): readonly ClosedSegment[] {
    return this.#closed;
  }

  /** The segment that is being written; undefined before its first record. */
  get open(): Segment | undefined {
    return this.#open;
  }

  /** Whether nothing can be synced until the next start. */
  get #isStopped(): boolean {
    return this.#file?.isStopped ?? false;
  }

  /** Whether so much waits for the disk, or the disk has failed, that nothing should be added. */
  get isBehind(): boolean {
    return this.#isStopped || this.#unwrittenBytes > this.#limits.unwrittenBytesMax;
  }

  /** Whether writing failed and is tried again by itself. */
  get isStuck(): boolean {
    return this.#failures > 0 || this.#isStopped;
  }

  /** Whether something is not on the disk for certain. */
  get isUnsynced(): boolean {
    return this.#isUnsynced || this.#unwrittenBytes > 0;
  }

  /** What is in no segment yet, oldest first. */
  unwritten(): readonly Batch[] {
    return [...this.#full, this.#next];
  }

  /** Adds a record, which is written soon. */
  append(record: StoredDelivery): RecordPlace {
    const { block, rows, place } = this.#next;
    const before = block.length;
    const at = block.add(record);
    rows.add(record, 0, at);
    this.#unwrittenBytes += block.length - before;
    if (block.length >= this.#limits.blockBytes) {
      this.#endBatch();
      this.#writeSoon(0);
    } else this.#writeSoon(this.#limits.blockMsMax);
    return { block: place, at };
  }

  #endBatch(): void {
    this.#full.push(this.#next);
    this.#next = newBatch(this.#spare);
    this.#spare = undefined;
  }

  #writeSoon(delayMs: number): void {
    if (this.#failures > 0 || (this.#cancelTimer !== undefined && delayMs > 0)) return;
    this.#writeIn(delayMs);
  }

  #writeIn(delayMs: number): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#options.setTimer(() => {
      this.#cancelTimer = undefined;
      this.write().then(
        () => (this.#failures = 0),
        (error: unknown) => {
          this.#options.failed(error);
          const retryMs = retryDelaysMs[this.#failures] ?? retryDelaysMs.at(-1);
          this.#failures += 1;
          this.#writeIn(retryMs ?? retryDelaysMs[0]);
        },
      );
    }, delayMs);
  }

  /** Resolves when everything added before is in its file. After a failure it can be called again. */
  write(): Promise<void> {
    return this.#turns.run(() => this.#writeAll());
  }

  /** The same, and on the disk. */
  sync(): Promise<void> {
    return this.#turns.run(() => this.#syncAll());
  }

  /** Notes that the log goes on without these segments, whose files can go then. */
  removed(segments: ReadonlySet<ClosedSegment>): Promise<void> {
    return this.#turns.run(async () => {
      for (const segment of segments) this.#closed.splice(this.#closed.indexOf(segment), 1);
      await this.writeManifest();
    });
  }

  /** Closes the open segment, so that it can be copied. */
  closeSegment(): Promise<void> {
    return this.#turns.run(async () => {
      await this.#writeAll();
      await this.#closeSegment();
    });
  }

  /** Makes everything durable, with an index that saves the next start reading the open segment. */
  async close(): Promise<void> {
    this.#cancelTimer?.();
    this.#failures = 0;
    await this.#turns.run(async () => {
      try {
        await this.#syncAll();
        await this.#open?.writeIndex();
      } finally {
        await this.#file?.close();
        this.#file = undefined;
      }
    });
    this.#cancelTimer?.();
  }

  async #writeAll(): Promise<void> {
    if (this.#next.rows.records > 0) this.#endBatch();
    for (let [batch] = this.#full; batch !== undefined; [batch] = this.#full) {
      await this.#writeBatch(batch);
      this.#full.shift();
      this.#unwrittenBytes -= batch.block.length;
      batch.block.clear();
      if (batch.block.capacity <= reusedBytesMax) this.#spare = batch.block;
      const { bytes = 0, records = 0 } = this.#open ?? {};
      if (bytes >= this.#limits.segmentBytes || records >= this.#limits.segmentRecords)
        await this.#closeSegment();
    }
  }

  async #writeBatch({ block, rows, place }: Batch): Promise<void> {
    this.#options.checkRoom?.();
    const head = { position: Math.max(0, rows.lastPosition), storedAt: this.#options.now() };
    const frame = await blockOf(block.bytes, head, this.#limits.packedBytesMin);
    const segment = (this.#open ??= this.#newSegment());
    this.#file ??= await this.#openFile(segment);
    const offset = await this.#file.append(frame);
    this.#isUnsynced = true;
    place.segment = segment.number;
    place.offset = offset;
    place.unwritten = undefined;
    segment.append(rows, offset);
  }

  #newSegment(): Segment {
    const number = this.#nextNumber;
    return new Segment(segmentPath(this.#options.directory, number), number);
  }

  async #openFile(segment: Segment): Promise<SegmentAppender<Segment>> {
    const file = await SegmentAppender.open(segment, this.#disk);
    this.#nextNumber = Math.max(this.#nextNumber, segment.number + 1);
    return file;
  }

  async #syncAll(): Promise<void> {
    await this.#writeAll();
    if (!this.#isUnsynced) return;
    await this.#file?.sync();
    await this.writeManifest();
    this.#isUnsynced = false;
  }

  /** Notes the segments that there are now. */
  async writeManifest(): Promise<void> {
    const segments = this.#closed.map(({ number, bytes }) => [number, bytes] as const);
    if (this.#open !== undefined) segments.push([this.#open.number, this.#open.synced]);
    await writeManifest(this.#options.directory, { segments });
  }

  async #closeSegment(): Promise<void> {
    const segment = this.#open;
    if (segment === undefined || segment.bytes === 0) return;
    await this.#file?.sync();
    const head = await segment.writeIndex();
    await this.#file?.close();
    this.#file = undefined;
    this.#open = undefined;
    this.#closed.push(new ClosedSegment(segment.path, segment.number, head));
    this.#nextNumber = Math.max(this.#nextNumber, segment.number + 1);
    await this.writeManifest();
    this.#isUnsynced = false;
  }
}
