// Segment appender: the file of the segment that is being written, appended to, synced, and continued after a stop.
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Disk, isDiskFull, realDisk } from '../log/disk.ts';
import { syncDirectory } from '../log/durable-file.ts';

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
