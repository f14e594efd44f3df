// Run file: a run on the disk; its index is in memory, sections are read when needed.
import { DamagedChunk } from '../chunks/chunk.ts';
import type { SegmentFile } from '../segments/segment-file.ts';
import { checkedSection } from './page-reader.ts';
import {
  decodeIndex,
  indexLength,
  pageBytes,
  runFooterBytes,
  type RunIndex,
  sectionPlace,
} from './run-index.ts';

export interface RunFile {
  readonly file: SegmentFile;
  readonly index: RunIndex;
  /** The checked content of a section, undefined when the page does not have it. Throws DamagedChunk. */
  readonly section: (page: number, section: number) => Uint8Array | undefined;
  /** As `section`, of one page that is read whole, into the memory when it is large enough. Throws DamagedChunk. */
  readonly page: (page: number, into: Uint8Array) => RunPage;
}

/** A page in memory. */
export interface RunPage {
  /** See `RunFile`. */
  readonly section: (section: number) => Uint8Array | undefined;
  /** As `section`, of one that every such page has. */
  readonly needed: (section: number) => Uint8Array;
}

/** Reads the index unless it is given. Throws DamagedChunk or OtherFormatError and leaves the file open. */
export function readRun(file: SegmentFile, index: RunIndex = readIndex(file)): RunFile {
  const nameOf = (page: number, section: number): string =>
    `Section ${section} of page ${page} of ${file.name}`;
  return {
    file,
    index,
    section: (page, section) => {
      const { offset, length } = sectionPlace(index, page, section);
      if (length === 0) return undefined;
      return checkedSection(file.read(offset, length), nameOf(page, section));
    },
    page: (page, into) => {
      const { offset: start } = sectionPlace(index, page, 0);
      const bytes = file.read(start, pageBytes(index, page), into);
      const section = (number: number): Uint8Array | undefined => {
        const { offset, length } = sectionPlace(index, page, number);
        const from = offset - start;
        if (length === 0) return undefined;
        return checkedSection(bytes.subarray(from, from + length), nameOf(page, number));
      };
      return {
        section,
        needed: (number) => {
          const content = section(number);
          if (content === undefined) throw new DamagedChunk(`${nameOf(page, number)} is missing`);
          return content;
        },
      };
    },
  };
}

function readIndex(file: SegmentFile): RunIndex {
  const { bytes, name, path } = file;
  if (bytes < runFooterBytes) throw new DamagedChunk(`${name} has no footer`);
  const footer = Buffer.from(file.read(bytes - runFooterBytes, runFooterBytes));
  const length = indexLength(footer, bytes, name);
  const body = Buffer.from(file.read(bytes - runFooterBytes - length, length));
  return decodeIndex(body, footer, path, bytes);
}
