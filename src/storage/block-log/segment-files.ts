// Segment files of a block log: their names in a folder, and their blocks, each in a frame, scanned and read one by one.
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { constants, crc32, zstdCompress, zstdDecompressSync } from 'node:zlib';
import {
  type Frame,
  frameBytes,
  type FrameDamage,
  frameHeaderBytes,
  readFrame,
  scanFrames,
} from '../log/frame.ts';
import { namesIn } from '../log/journal-block.ts';
import {
  type Disk,
  isDiskFull,
  realDisk,
  replaceFile,
  syncDirectory,
} from '../log/durable-file.ts';

export interface SegmentName {
  /** Ascending in the order of writing. */
  readonly number: number;
  /** Grows when the segment is rewritten; 0 where its name has none. */
  readonly generation: number;
  readonly path: string;
}

/** The digits of a number in the name of a segment. */
export function segmentDigits(number: number): string {
  return String(number).padStart(10, '0');
}

/**
 * The segments of the folder with this suffix in the order of their writing; none without the
 * folder.
 */
export async function listSegments(directory: string, suffix: string): Promise<SegmentName[]> {
  const pattern = new RegExp(`^(\\d{10})(?:\\.(\\d+))?\\.${suffix}$`);
  const names = (await namesIn(directory)).flatMap((name) => {
    const [, number, generation = '0'] = pattern.exec(name) ?? [];
    if (number === undefined) return [];
    return { number: Number(number), generation: Number(generation), path: join(directory, name) };
  });
  return names.toSorted(
    (one, other) => one.number - other.number || one.generation - other.generation,
  );
}

/**
 * Removes a segment with its index. The index goes first: a segment with an index is whole, so that
 * a crash in between never leaves an index without its segment.
 */
export async function removeSegment(path: string): Promise<void> {
  for (const file of [IndexFile.pathOf(path), path]) {
    await unlink(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

/** Bytes of a segment that cannot be read; what they held is lost. */
export interface BlockDamage extends FrameDamage {
  readonly path: string;
}

/**
 * Gives the blocks of a segment to `enter`, in their order. It returns false at a block that is not
 * wanted: the scan ends before it.
 */
export async function scanBlocks(
  path: string,
  {
    from,
    to,
    synced,
  }: {
    readonly from: number;
    readonly to: number;
    /** What cannot be read behind it is no damage: the blocks end before it. */
    readonly synced: number;
  },
  enter: (frame: Frame, offset: number) => boolean,
): Promise<{
  /** Behind the last whole block. */
  readonly end: number;
  /** What cannot be read before that end. */
  readonly damage: readonly BlockDamage[];
  /** What cannot be read behind it: a torn end, unless the segment was complete. */
  readonly tail: readonly BlockDamage[];
}> {
  const damage: BlockDamage[] = [];
  let end = from;
  for await (const batch of scanFrames(path, from, to, synced)) {
    const found = batch.damage === undefined ? [] : [{ path, ...batch.damage }];
    if (batch.frames.length === 0) return { end, damage, tail: found };
    damage.push(...found);
    let { offset } = batch;
    for (const frame of batch.frames) {
      if (!enter(frame, offset)) return { end: offset, damage, tail: [] };
      offset += frameBytes(frame);
    }
    end = offset;
  }
  return { end, damage, tail: [] };
}

/** The block whose frame has so many bytes; undefined when they are not what was written. */
export async function readBlock(
  file: FileHandle,
  offset: number,
  bytes: number,
): Promise<Frame | undefined> {
  const frame = await readBytes(file, offset, bytes);
  const read = frame && readFrame(frame, 0);
  return typeof read === 'string' ? undefined : read;
}

/** The bytes of the frame at the offset, as it says; undefined when the file does not have so many. */
export async function blockBytes(file: FileHandle, offset: number): Promise<number | undefined> {
  const head = await readBytes(file, offset, frameHeaderBytes);
  if (head === undefined) return undefined;
  const bytes = frameHeaderBytes + head.readUInt32LE(8);
  const { size } = await file.stat();
  return offset + bytes > size ? undefined : bytes;
}

/** So many bytes at the offset; undefined when the file ends before. */
async function readBytes(
  file: FileHandle,
  offset: number,
  length: number,
): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafeSlow(length);
  const { bytesRead } = await file.read(bytes, 0, length, offset);
  return bytesRead === length ? bytes : undefined;
}

/** Opens a file for reading; undefined when there is none, such as one that was removed meanwhile. */
export async function openExisting(path: string): Promise<FileHandle | undefined> {
  return open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

const compressed = promisify(zstdCompress);

/** Compresses a block in another thread. */
export function compressBlock(block: Uint8Array): Promise<Buffer> {
  return compressed(block, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/**
 * The block that was compressed. Throws for other bytes, which a checksum has ruled out before. Not
 * in another thread: the way there and back doubles the time of a list of raw uplinks.
 */
export function decompressBlock(bytes: Buffer): Buffer {
  return zstdDecompressSync(bytes);
}

// Segment appender: the file of the segment that is being written, appended to, synced, and continued after a stop.

/** What a log knows of the segment that it writes. */
export interface GrowingSegment {
  readonly path: string;
  /** Where the next block begins; the file may be longer. */
  bytes: number;
  /** Bytes that are on the disk for certain. */
  synced: number;
}

export class SegmentAppender<S extends GrowingSegment> {
  readonly segment: S;
  readonly #file: FileHandle;
  readonly #disk: Disk;
  /** Why nothing can be synced any more. */
  #failed: Error | undefined;

  private constructor(segment: S, file: FileHandle, disk: Disk) {
    this.segment = segment;
    this.#file = file;
    this.#disk = disk;
  }

  /**
   * Creates the file of a segment without blocks, and continues that of another. A torn end is cut
   * off: it would be taken for damage once something follows it.
   */
  static async open<S extends GrowingSegment>(
    segment: S,
    disk: Disk = realDisk,
  ): Promise<SegmentAppender<S>> {
    const { path, bytes } = segment;
    const file = await open(path, bytes === 0 ? 'w+' : 'r+');
    try {
      if (bytes === 0) await syncDirectory(dirname(path));
      else await file.truncate(bytes);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new SegmentAppender(segment, file, disk);
  }

  /** Whether a sync failed, so that nothing more becomes durable until the next start. */
  get isStopped(): boolean {
    return this.#failed !== undefined;
  }

  /** Appends a frame over what a failed call has left; returns its offset. */
  async append(frame: Uint8Array): Promise<number> {
    const offset = this.segment.bytes;
    await this.#disk.write(this.#file.fd, frame, offset);
    this.segment.bytes = offset + frame.length;
    return offset;
  }

  /**
   * Makes durable what was appended before the call. After a sync that failed, the next one may
   * succeed although bytes are lost. So it is never tried again: the journal keeps its entries, and
   * the next start continues with what is on the disk. A full disk is tried again.
   */
  async sync(): Promise<void> {
    if (this.#failed !== undefined) throw this.#failed;
    const { bytes } = this.segment;
    try {
      await this.#disk.sync(this.#file.fd);
    } catch (error) {
      if (!isDiskFull(error))
        this.#failed = new Error('The segment cannot be flushed until the next start', {
          cause: error,
        });
      throw error;
    }
    this.segment.synced = bytes;
  }

  /** Closes the file without a sync. */
  async close(): Promise<void> {
    await this.#file.close();
  }
}

// Index file of a segment: a head as JSON, then tables of bytes, each under a checksum of its own.
// File: CRC32 u32 and length u32 of the head, the head, then what the log adds.

const prefixBytes = 8;

export class IndexFile<Head> {
  readonly #file: FileHandle;
  #found: Promise<{ readonly head: Head; readonly end: number } | undefined> | undefined;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** The index next to a segment. */
  static pathOf(segment: string): string {
    return segment.replace(/\.[a-z]+$/, '.index');
  }

  /** The bytes of the prefix and the head of an index. */
  static headBytes(head: object): Buffer {
    const json = Buffer.from(JSON.stringify(head));
    const prefix = Buffer.alloc(prefixBytes);
    prefix.writeUInt32LE(crc32(json), 0);
    prefix.writeUInt32LE(json.length, 4);
    return Buffer.concat([prefix, json]);
  }

  /** Writes the index of the segment of these parts; durable when it resolves. */
  static async write(segment: string, parts: readonly Uint8Array[]): Promise<void> {
    await replaceFile(IndexFile.pathOf(segment), Buffer.concat(parts));
  }

  /** What `use` makes of the index of the segment; undefined when there is no file. */
  static async use<Head, T>(
    segment: string,
    use: (index: IndexFile<Head>) => Promise<T>,
  ): Promise<T | undefined> {
    const file = await openExisting(IndexFile.pathOf(segment));
    if (file === undefined) return undefined;
    try {
      return await use(new IndexFile(file));
    } finally {
      await file.close();
    }
  }

  /** The head, and where the tables begin; undefined when it is not what was written. */
  head(): Promise<{ readonly head: Head; readonly end: number } | undefined> {
    this.#found ??= this.#readHead();
    return this.#found;
  }

  async #readHead(): Promise<{ readonly head: Head; readonly end: number } | undefined> {
    const prefix = await this.bytes(0, prefixBytes);
    const length = prefix?.readUInt32LE(4) ?? 0;
    if (prefix === undefined || length > (await this.#file.stat()).size) return undefined;
    const json = await this.read(prefixBytes, length, prefix.readUInt32LE(0));
    if (json === undefined) return undefined;
    return { head: JSON.parse(json.toString('utf8')) as Head, end: prefixBytes + length };
  }

  /** So many bytes at the offset of the file; undefined when it ends before. */
  bytes(offset: number, length: number): Promise<Buffer | undefined> {
    return readBytes(this.#file, offset, length);
  }

  /** The same; undefined also when they do not have the checksum. */
  async read(offset: number, length: number, checksum: number): Promise<Buffer | undefined> {
    const bytes = await this.bytes(offset, length);
    return bytes !== undefined && crc32(bytes) === checksum ? bytes : undefined;
  }
}
