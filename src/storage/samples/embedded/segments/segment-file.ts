// Segment file: a file of the store that is open for reading; it never changes.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { type ChunkFile, DamagedChunk } from '../chunks/chunk.ts';

export interface SegmentFile extends ChunkFile {
  readonly path: string;
  readonly bytes: number;
  readonly close: () => void;
}

/** Opens the file for reading without looking at its index. */
export function openSegmentFile(path: string): SegmentFile {
  const fd = openSync(path, 'r');
  const { size } = fstatSync(fd);
  let closed = false;
  return {
    path,
    name: basename(path),
    bytes: size,
    read: (offset, length, into) => readAt(fd, offset, length, into),
    close: () => {
      if (!closed) closeSync(fd);
      closed = true;
    },
  };
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
