// Segment writer: gathers raw uplinks into blocks of a file, syncs it and closes it with its index.
import { open } from 'node:fs/promises';
import type { EpochMs } from '../../../model/instant.ts';
import type { RawUplink } from '../../../model/uplink.ts';
import { SegmentAppender } from '../../block-log/segment-appender.ts';
import type { Disk } from '../../log/disk.ts';
import { lineOf, outcomeBytesMax } from '../raw-uplink-line.ts';
import { type FoundSegments, removeDurableMark, writeDurableMark } from './found-segments.ts';
import { type ClosedSegment, closeSegment } from './segment-index.ts';
import {
  blockOf,
  type LineHead,
  SegmentContents,
  segmentName,
  type WrittenSegment,
} from './uplink-segment.ts';

/** The limits of raw uplinks in files, by name; tests make them small. */
export const rawUplinkLimits = {
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

export type RawUplinkLimits = { readonly [K in keyof typeof rawUplinkLimits]: number };

/**
 * Everything here is called by one caller at a time. What fails may be called again and goes on
 * where it stopped.
 */
export class SegmentWriter {
  readonly #directory: string;
  readonly #limits: RawUplinkLimits;
  readonly #now: () => EpochMs;
  readonly #disk: Disk;
  #open: SegmentAppender<WrittenSegment> | undefined;
  #nextNumber: number;
  #lines: string[] = [];
  /** Of the same lines. */
  #heads: LineHead[] = [];
  #lineBytes = 0;
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
    return this.#lines;
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
    for (const uplink of uplinks) {
      if (uplink.position <= this.#lastPosition) continue;
      const line = lineOf(uplink, this.#limits.outcomeBytesMax);
      this.#lines.push(line);
      this.#heads.push({ deviceId: uplink.deviceId, receivedAt: uplink.receivedAt });
      this.#lineBytes += line.length;
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
    return this.#lineBytes >= this.#limits.blockBytes;
  }

  async #flush(): Promise<void> {
    const lines = this.#lines;
    if (lines.length === 0) return;
    const { position } = this.#newest;
    const frame = await blockOf(lines, this.#newest);
    this.#open ??= await this.#create();
    const at = { offset: await this.#open.append(frame), bytes: frame.length };
    this.#open.segment.contents.add(at, this.#heads, position);
    this.#unsyncedBytes += frame.length;
    this.#lines = [];
    this.#heads = [];
    this.#lineBytes = 0;
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
