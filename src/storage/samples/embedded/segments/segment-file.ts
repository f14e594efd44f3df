// Segment file: a file of the store that is open for reading; it never changes.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { type ChunkFile, DamagedChunk } from '../chunks/chunk.ts';

/** Opens the file for reading without looking at its index. */
export class SegmentFile implements ChunkFile {
  readonly path: string;
  readonly name: string;
  readonly #fd: number;
  readonly #size: number;
  #closed = false;

  constructor(path: string) {
    this.path = path;
    this.#fd = openSync(path, 'r');
    const { size } = fstatSync(this.#fd);
    this.#size = size;
    this.name = basename(path);
  }

  get bytes(): number {
    return this.#size;
  }

  /**
   * Bytes of the file from `offset` on, beginning on a four-byte boundary of their memory: in
   * `into` when that is given and large enough, else in memory that never changes.
   */
  read(offset: number, length: number, into?: Uint8Array): Uint8Array {
    return readAt(this.#fd, offset, length, into);
  }

  close(): void {
    if (!this.#closed) closeSync(this.#fd);
    this.#closed = true;
  }
}

function readAt(
  fd: number,
  offset: number,
  length: number,
  into: Uint8Array | undefined,
): Uint8Array {
  const bytes =
    into === undefined || into.length < length ? new Uint8Array(length) : into.subarray(0, length);
  let done = 0;
  while (done < length) {
    const read = readSync(fd, bytes, done, length - done, offset + done);
    if (read === 0) throw new DamagedChunk(`A segment ends ${length - done} bytes early`);
    done += read;
  }
  return bytes;
}

// Reads under way that may hold chunks across pauses: files they may still need are closed only after them.

export class ActiveReads {
  readonly #active = new Set<object>();
  #waiting: { readonly reads: Set<object>; readonly callback: () => void }[] = [];

  /** Calls back when every read that is under way now has ended. */
  readonly whenUnread = (callback: () => void): void => {
    if (this.#active.size === 0) callback();
    else this.#waiting.push({ reads: new Set(this.#active), callback });
  };

  /** Begins a read; call what it gives when the read has ended. */
  begin(): () => void {
    const read = {};
    this.#active.add(read);
    return () => {
      this.#active.delete(read);
      for (const { reads } of this.#waiting) reads.delete(read);
      for (const { reads, callback } of this.#waiting) if (reads.size === 0) callback();
      this.#waiting = this.#waiting.filter(({ reads }) => reads.size > 0);
    };
  }
}
