// Writer of the delivery log: collects records in blocks and appends blocks to the open segment.
import { type FileHandle, open, truncate } from 'node:fs/promises';
import type { EpochMs } from '../../model/instant.ts';
import { createSerialQueue } from '../../structures/serial-queue.ts';
import type { SetTimer } from '../../structures/timers.ts';
import { type Disk, isDiskFull, realDisk } from '../log/disk.ts';
import { syncDirectory } from '../log/durable-file.ts';
import type { DeliveryLogLimits } from './format.ts';
import { type ClosedSegment, closedSegment, writeManifest } from './open-segments.ts';
import { RecordBlock, type RecordPlace, type StoredDelivery } from './record.ts';
import { writeIndex } from './segment-index.ts';
import { emptySegment, enter, frameOf, type Segment } from './segment.ts';

export interface LogWriterParts {
  readonly directory: string;
  readonly limits: DeliveryLogLimits;
  readonly now: () => EpochMs;
  readonly setTimer: SetTimer;
  /** Throws when nothing may be written at present. */
  readonly checkRoom: () => void;
  readonly failed: (error: unknown) => void;
  /** The shared list of closed segments. */
  readonly closed: ClosedSegment[];
  /** The segment to continue. */
  readonly resume: Segment | undefined;
  readonly nextNumber: number;
  readonly disk?: Disk;
}

interface Waiting {
  readonly record: StoredDelivery;
  readonly place: RecordPlace;
}

/** Records that become one block. */
interface Batch {
  readonly block: RecordBlock;
  readonly waiting: Waiting[];
}

const newBatch = (spare?: RecordBlock): Batch => ({
  block: spare ?? new RecordBlock(),
  waiting: [],
});

/** A larger block is not used again. */
const reusedBytesMax = 1024 * 1024;

/** Before the next attempt to write after the first, second, ... failure; the last one repeats. */
const retryDelaysMs = [1_000, 5_000, 30_000] as const;

export class LogWriter {
  readonly #parts: LogWriterParts;
  readonly #disk: Disk;
  readonly #turns = createSerialQueue();
  #open: Segment | undefined;
  #file: FileHandle | undefined;
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
  /** Why nothing can be synced until the next start. */
  #stopped: Error | undefined;
  #cancelTimer: (() => void) | undefined;

  constructor(parts: LogWriterParts) {
    this.#parts = parts;
    this.#disk = parts.disk ?? realDisk;
    this.#open = parts.resume;
    this.#nextNumber = parts.nextNumber;
  }

  /** The segment that is being written; undefined before its first record. */
  get open(): Segment | undefined {
    return this.#open;
  }

  /** Whether so much waits for the disk, or the disk has failed, that nothing should be added. */
  get isBehind(): boolean {
    return (
      this.#stopped !== undefined || this.#unwrittenBytes > this.#parts.limits.unwrittenBytesMax
    );
  }

  /** Whether writing failed and is tried again by itself. */
  get isStuck(): boolean {
    return this.#failures > 0 || this.#stopped !== undefined;
  }

  /** Whether something is not on the disk for certain. */
  get isUnsynced(): boolean {
    return this.#isUnsynced || this.#unwrittenBytes > 0;
  }

  /** Records that are in no segment yet. */
  *unwritten(): Generator<Waiting> {
    for (const { waiting } of [...this.#full, this.#next]) yield* waiting;
  }

  /** Adds a record, which is written soon. */
  append(record: StoredDelivery): RecordPlace {
    const { block, waiting } = this.#next;
    const before = block.length;
    const place: RecordPlace = { segment: 0, offset: 0, at: block.add(record), waiting: record };
    waiting.push({ record, place });
    this.#unwrittenBytes += block.length - before;
    if (block.length >= this.#parts.limits.blockBytes) {
      this.#endBatch();
      this.#writeSoon(0);
    } else this.#writeSoon(this.#parts.limits.blockMsMax);
    return place;
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
    this.#cancelTimer = this.#parts.setTimer(() => {
      this.#cancelTimer = undefined;
      this.write().then(
        () => (this.#failures = 0),
        (error: unknown) => {
          this.#parts.failed(error);
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

  /** Runs the task while nothing is written. */
  alone<T>(task: () => Promise<T>): Promise<T> {
    return this.#turns.run(task);
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
        if (this.#open !== undefined) await writeIndex(this.#open);
      } finally {
        await this.#file?.close();
        this.#file = undefined;
      }
    });
    this.#cancelTimer?.();
  }

  async #writeAll(): Promise<void> {
    if (this.#next.waiting.length > 0) this.#endBatch();
    for (let [batch] = this.#full; batch !== undefined; [batch] = this.#full) {
      await this.#writeBatch(batch);
      this.#full.shift();
      this.#unwrittenBytes -= batch.block.length;
      batch.block.clear();
      if (batch.block.capacity <= reusedBytesMax) this.#spare = batch.block;
      const { limits } = this.#parts;
      const { bytes = 0, records = 0 } = this.#open ?? {};
      if (bytes >= limits.segmentBytes || records >= limits.segmentRecords)
        await this.#closeSegment();
    }
  }

  async #writeBatch({ block, waiting }: Batch): Promise<void> {
    const { limits, now, checkRoom } = this.#parts;
    checkRoom();
    const position = waiting.reduce(
      (last, { record }) => Math.max(last, Math.floor(record.sequence)),
      0,
    );
    const frame = await frameOf(block.bytes, { position, storedAt: now() }, limits.packedBytesMin);
    const segment = (this.#open ??= emptySegment(this.#parts.directory, this.#nextNumber));
    this.#file ??= await this.#openFile(segment);
    // A write that failed before is overwritten.
    await this.#disk.write(this.#file.fd, frame, segment.bytes);
    this.#isUnsynced = true;
    for (const { record, place } of waiting) {
      place.segment = segment.number;
      place.offset = segment.bytes;
      place.waiting = undefined;
      enter(segment, record, place);
    }
    segment.bytes += frame.length;
  }

  async #openFile({ path, number, bytes }: Segment): Promise<FileHandle> {
    if (bytes > 0) {
      // A torn end would be taken for damage once something follows it.
      await truncate(path, bytes);
      return open(path, 'r+');
    }
    const file = await open(path, 'w+');
    await syncDirectory(this.#parts.directory);
    this.#nextNumber = number + 1;
    return file;
  }

  async #syncAll(): Promise<void> {
    await this.#writeAll();
    if (!this.#isUnsynced) return;
    await this.#syncFile();
    await this.writeManifest();
    this.#isUnsynced = false;
  }

  /**
   * After a sync that failed the next one may succeed although bytes are lost. So it is never tried
   * again: the journal keeps its entries, and the next start continues with what is on the disk.
   */
  async #syncFile(): Promise<void> {
    if (this.#stopped !== undefined) throw this.#stopped;
    const segment = this.#open;
    if (this.#file === undefined || segment === undefined) return;
    const { bytes } = segment;
    try {
      await this.#disk.sync(this.#file.fd);
      segment.synced = bytes;
    } catch (error) {
      if (!isDiskFull(error))
        this.#stopped = new Error('The delivery log cannot be flushed until the next start', {
          cause: error,
        });
      throw error;
    }
  }

  /** Notes the segments that there are now. */
  async writeManifest(): Promise<void> {
    const { closed, directory } = this.#parts;
    const segments = closed.map(({ number, bytes }) => [number, bytes] as const);
    if (this.#open !== undefined) segments.push([this.#open.number, this.#open.synced]);
    await writeManifest(directory, { segments });
  }

  async #closeSegment(): Promise<void> {
    const segment = this.#open;
    if (segment === undefined || segment.bytes === 0) return;
    await this.#syncFile();
    const head = await writeIndex(segment);
    await this.#file?.close();
    this.#file = undefined;
    this.#open = undefined;
    this.#parts.closed.push(closedSegment(this.#parts.directory, segment.number, head));
    this.#nextNumber = Math.max(this.#nextNumber, segment.number + 1);
    await this.writeManifest();
    this.#isUnsynced = false;
  }
}
