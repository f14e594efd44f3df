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

/** A page in memory. */
export interface RunPage {
  /** See `RunFile`. */
  readonly section: (section: number) => Uint8Array | undefined;
  /** As `section`, of one that every such page has. */
  readonly needed: (section: number) => Uint8Array;
}

/**
 * Reads the index unless it is given. Throws DamagedChunk or OtherFormatError and leaves the
 * file open.
 */
export class RunFile {
  readonly file: SegmentFile;
  readonly index: RunIndex;

  constructor(file: SegmentFile, index: RunIndex = readIndex(file)) {
    this.file = file;
    this.index = index;
  }

  /**
   * The checked content of a section, undefined when the page does not have it. Throws
   * DamagedChunk.
   */
  section(page: number, section: number): Uint8Array | undefined {
    const { offset, length } = sectionPlace(this.index, page, section);
    if (length === 0) return undefined;
    return checkedSection(this.file.read(offset, length), this.#nameOf(page, section));
  }

  /**
   * As `section`, of one page that is read whole, into the memory when it is large enough. Throws
   * DamagedChunk.
   */
  page(page: number, into: Uint8Array): RunPage {
    const { offset: start } = sectionPlace(this.index, page, 0);
    const bytes = this.file.read(start, pageBytes(this.index, page), into);
    const section = (number: number): Uint8Array | undefined => {
      const { offset, length } = sectionPlace(this.index, page, number);
      const from = offset - start;
      if (length === 0) return undefined;
      return checkedSection(bytes.subarray(from, from + length), this.#nameOf(page, number));
    };
    return {
      section,
      needed: (number) => {
        const content = section(number);
        if (content === undefined)
          throw new DamagedChunk(`${this.#nameOf(page, number)} is missing`);
        return content;
      },
    };
  }

  #nameOf(page: number, section: number): string {
    return `Section ${section} of page ${page} of ${this.file.name}`;
  }
}

function readIndex(file: SegmentFile): RunIndex {
  const { bytes, name, path } = file;
  if (bytes < runFooterBytes) throw new DamagedChunk(`${name} has no footer`);
  const footer = Buffer.from(file.read(bytes - runFooterBytes, runFooterBytes));
  const length = indexLength(footer, bytes, name);
  const body = Buffer.from(file.read(bytes - runFooterBytes - length, length));
  return decodeIndex(body, footer, path, bytes);
}
