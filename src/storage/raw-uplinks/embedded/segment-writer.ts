// Segment writer: gathers raw uplinks into blocks of a file, syncs it and closes it with its index.
import { type FileHandle, open } from 'node:fs/promises';
import { realDisk } from '../../log/disk.ts';
import { replaceFile, syncDirectory } from '../../log/durable-file.ts';
import type { EpochMs } from '../../../model/instant.ts';
import type { RawUplink } from '../../../model/uplink.ts';
import { lineOf } from '../raw-uplink-line.ts';
import { compressLines } from './block.ts';
import { removeDurableMark, writeDurableMark } from './durable-mark.ts';
import type { RawUplinkLimits } from './raw-uplink-limits.ts';
import {
  addBlock,
  frameOf,
  indexPath,
  type LineHead,
  type SegmentName,
  segmentName,
} from './segment-file.ts';
import { emptyContents, encodeIndex, type SegmentContents } from './segment-index.ts';

export interface WrittenSegment extends SegmentName {
  readonly contents: SegmentContents;
  bytes: number;
  /** What the durable mark says of it. */
  synced: number;
}

interface OpenSegment extends WrittenSegment {
  readonly file: FileHandle;
}

export interface SegmentWriterParts {
  readonly directory: string;
  readonly limits: RawUplinkLimits;
  readonly now: () => EpochMs;
  readonly sequence: number;
  /** A segment that a stop or a crash left open, to be continued. */
  readonly resume: WrittenSegment | undefined;
  /** Uplinks up to this position are there already. */
  readonly lastPosition: number;
}

/**
 * Everything here is called by one caller at a time. What fails may be called again and goes on
 * where it stopped.
 */
export class SegmentWriter {
  readonly #parts: SegmentWriterParts;
  #segment: OpenSegment | undefined;
  #sequence: number;
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

  constructor(parts: SegmentWriterParts) {
    this.#parts = parts;
    this.#sequence = parts.sequence;
    this.#lastPosition = parts.lastPosition;
  }

  /** Continues the segment that was left open, its torn tail cut off. */
  async resume(): Promise<void> {
    const { resume } = this.#parts;
    if (resume === undefined) return;
    const segment = { ...resume, file: await open(resume.path, 'r+') };
    if (segment.bytes < segment.synced) {
      // Before what is cut off is missing.
      await realDisk.sync(segment.file.fd);
      await this.#mark(segment);
    }
    await segment.file.truncate(segment.bytes);
    this.#segment = segment;
  }

  /** Lines that are in no block yet, oldest first. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The segment that is being written; undefined before its first block. */
  get segment(): WrittenSegment | undefined {
    return this.#segment;
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
    const { limits, now } = this.#parts;
    if (this.#hasFullBlock()) await this.#flush();
    for (const uplink of uplinks) {
      if (uplink.position <= this.#lastPosition) continue;
      const line = lineOf(uplink, limits.outcomeBytesMax);
      this.#lines.push(line);
      this.#heads.push({ deviceId: uplink.deviceId, receivedAt: uplink.receivedAt });
      this.#lineBytes += line.length;
      this.#lastPosition = uplink.position;
      this.#newest.position = uplink.position;
      this.#newest.receivedAt = Math.max(uplink.receivedAt, this.#newest.receivedAt);
      this.#unsyncedSince ??= now();
      if (this.#hasFullBlock()) await this.#flush();
    }
    this.#seen = through;
    if (this.#unsyncedSince === undefined) this.#durable = through;
    else if (this.#unsyncedBytes >= limits.unsyncedBytesMax) await this.sync();
  }

  #hasFullBlock(): boolean {
    return this.#lineBytes >= this.#parts.limits.blockBytes;
  }

  async #flush(): Promise<void> {
    const lines = this.#lines;
    if (lines.length === 0) return;
    const { position, receivedAt } = this.#newest;
    const frame = frameOf(await compressLines(lines), position, receivedAt);
    this.#segment ??= await this.#create();
    const segment = this.#segment;
    await realDisk.write(segment.file.fd, frame, segment.bytes);
    addBlock(
      segment.contents,
      { offset: segment.bytes, bytes: frame.length },
      this.#heads,
      position,
    );
    segment.bytes += frame.length;
    this.#unsyncedBytes += frame.length;
    this.#lines = [];
    this.#heads = [];
    this.#lineBytes = 0;
  }

  async #create(): Promise<OpenSegment> {
    const name = segmentName(this.#parts.directory, this.#sequence, 0);
    const file = await open(name.path, 'w+');
    await syncDirectory(this.#parts.directory);
    this.#sequence += 1;
    const segment = { ...name, file, contents: emptyContents(), bytes: 0, synced: 0 };
    await this.#mark(segment);
    return segment;
  }

  /** Notes that all bytes of the segment are on the disk. */
  async #mark(segment: WrittenSegment): Promise<void> {
    const { sequence, bytes } = segment;
    await writeDurableMark(this.#parts.directory, { sequence, bytes });
    segment.synced = bytes;
  }

  /** Makes everything added so far durable. */
  async sync(): Promise<void> {
    const seen = this.#seen;
    await this.#flush();
    if (this.#segment !== undefined && this.#unsyncedBytes > 0) {
      await realDisk.sync(this.#segment.file.fd);
      await this.#mark(this.#segment);
    }
    this.#unsyncedBytes = 0;
    this.#unsyncedSince = undefined;
    this.#durable = seen;
  }

  /** Syncs when what was added first has waited for long enough. */
  async syncWhenDue(): Promise<void> {
    const { limits, now } = this.#parts;
    if (this.#unsyncedSince !== undefined && now() - this.#unsyncedSince >= limits.unsyncedMsMax)
      await this.sync();
  }

  /** Whether the segment must be closed: it is long, or its first uplink is older than the time. */
  isFull(olderThan: EpochMs): boolean {
    const segment = this.#segment;
    if (segment === undefined) return false;
    return (
      segment.bytes >= this.#parts.limits.segmentBytes ||
      (segment.contents.blocks[0]?.from ?? olderThan) < olderThan
    );
  }

  /** Closes the segment, with its index, and hands it over. */
  async closeSegment(): Promise<WrittenSegment | undefined> {
    await this.sync();
    const segment = this.#segment;
    if (segment === undefined) return undefined;
    await replaceFile(indexPath(segment.path), encodeIndex(segment.contents));
    await segment.file.close();
    await removeDurableMark(this.#parts.directory);
    this.#segment = undefined;
    const { file: _closed, ...written } = segment;
    return written;
  }

  /** Makes everything durable; the segment stays open for the next start. */
  async close(): Promise<void> {
    await this.sync();
    await this.#segment?.file.close();
    this.#segment = undefined;
  }
}
