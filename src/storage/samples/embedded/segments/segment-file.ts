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
