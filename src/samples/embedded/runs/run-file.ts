// Run file: a run on the disk, its index in memory, the sections of its pages read when they are needed.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { DamagedChunk } from '../chunks/chunk.ts';
import { checkedSection } from './page-reader.ts';
import {
  decodeIndex,
  indexLength,
  runFooterBytes,
  type RunIndex,
  sectionPlace,
} from './run-index.ts';

export interface RunFile {
  readonly name: string;
  readonly path: string;
  readonly index: RunIndex;
  /** The checked content of a section, or undefined when the page does not have it. Throws DamagedChunk. */
  readonly section: (page: number, section: number) => Uint8Array | undefined;
  readonly close: () => void;
}

/** Opens a run. `index` spares reading it. Throws DamagedChunk or NewerFormatError without leaving the file open. */
export function openRunFile(path: string, index?: RunIndex): RunFile {
  const fd = openSync(path, 'r');
  const name = basename(path);
  let isOpen = true;

  function close(): void {
    if (isOpen) closeSync(fd);
    isOpen = false;
  }

  function read(offset: number, length: number): Buffer {
    // Memory of its own: sections are read in place, which needs multiples of 8.
    const bytes = Buffer.allocUnsafeSlow(length);
    for (let done = 0; done < length; ) {
      const count = readSync(fd, bytes, done, length - done, offset + done);
      if (count === 0) throw new DamagedChunk(`${name} ends ${length - done} bytes early`);
      done += count;
    }
    return bytes;
  }

  function readIndex(): RunIndex {
    const { size } = fstatSync(fd);
    if (size < runFooterBytes) throw new DamagedChunk(`${name} has no footer`);
    const footer = read(size - runFooterBytes, runFooterBytes);
    const length = indexLength(footer, size, name);
    return decodeIndex(read(size - runFooterBytes - length, length), footer, path, size);
  }

  try {
    const known = index ?? readIndex();
    return {
      name,
      path,
      index: known,
      close,
      section: (page, section) => {
        const { offset, length } = sectionPlace(known, page, section);
        if (length === 0) return undefined;
        return checkedSection(
          read(offset, length),
          `Section ${section} of page ${page} of ${name}`,
        );
      },
    };
  } catch (error) {
    close();
    throw error;
  }
}
