// Run file: a run on the disk; its index is in memory, sections are read when needed.
import { crc32 } from 'node:zlib';
import { DamagedChunk } from '../chunks/chunk.ts';
import type { SegmentFile } from '../segments/segment-file.ts';
import { checkedSection, lowerBound, type PageEntry } from './page.ts';
import { refuseOtherFormat } from '../../../../model/problem.ts';

// Run index: everything known of a run without its pages, at the end of its file.

/** A larger one is of a newer version of the program. */
export const runFormat = 1;
export const runMagic = 0x314e_5248;
/** Length and CRC32 of the index, four bytes of zero, and `runMagic`. */
const runFooterBytes = 16;

/** What all rows of a run have in common, and its totals. */
interface RunHead {
  readonly format: number;
  /** The shape of every row, as text. */
  readonly shape: string;
  readonly topic: string;
  readonly rows: number;
  readonly oldest: number;
  readonly newest: number;
  readonly pages: number;
  readonly sections: number;
  /** [workspace, data flow], and the rows of each. */
  readonly origins: readonly (readonly [string, string | null])[];
  readonly originRows: readonly number[];
  /** By origin: expired rows before are not in the run; null where no rows had expired. */
  readonly keptFrom: readonly (number | null)[];
  /** 0 for a sealed memtable, one more with each merge. */
  readonly level: number;
  /** The largest place of a row among all rows of its device. */
  readonly maxOrder: number;
  /** Every row of the shape and topic in earlier entries of the journal is in this or in an older run, or in a chunk. */
  readonly sealedTo: number;
  /** Entries from here on have no row in this run; between `sealedTo` and here some may have. */
  readonly coveredTo: number;
  /** Devices that had a number when the run was written. */
  readonly devices: number;
  /** Names of the files whose rows are in this one: they no longer count, even when the manifest names them. */
  readonly replaces: readonly string[];
}

/** What the index says of a run besides its rows. */
export type RunNote = Pick<RunHead, 'level' | 'sealedTo' | 'coveredTo' | 'devices' | 'replaces'>;

/** One value per page; `ends` has `head.sections` per page. Binary search by device finds the pages to read. */
export interface RunIndex {
  readonly head: RunHead;
  readonly offsets: Float64Array<ArrayBuffer>;
  readonly oldest: Float64Array<ArrayBuffer>;
  readonly newest: Float64Array<ArrayBuffer>;
  readonly rows: Uint32Array<ArrayBuffer>;
  readonly firstDevices: Uint32Array<ArrayBuffer>;
  readonly lastDevices: Uint32Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  /** Size of the file. */
  readonly bytes: number;
}

/** A page as the index keeps it. */
export interface PlacedPage extends PageEntry {
  readonly offset: number;
}

export function indexOf(head: RunHead, pages: readonly PlacedPage[], bytes: number): RunIndex {
  return {
    head,
    offsets: Float64Array.from(pages, ({ offset }) => offset),
    oldest: Float64Array.from(pages, ({ oldest }) => oldest),
    newest: Float64Array.from(pages, ({ newest }) => newest),
    rows: Uint32Array.from(pages, ({ rows }) => rows),
    firstDevices: Uint32Array.from(pages, ({ firstDevice }) => firstDevice),
    lastDevices: Uint32Array.from(pages, ({ lastDevice }) => lastDevice),
    ends: Uint32Array.from(pages.flatMap(({ ends }) => ends)),
    bytes,
  };
}

/** The index with its footer. */
export function encodeIndex(index: RunIndex): Buffer {
  const head = Buffer.from(JSON.stringify(index.head));
  const padding = -(head.length + 4) & 7;
  const lengths = Buffer.alloc(4);
  lengths.writeUInt32LE(head.length + padding, 0);
  const tables = [
    index.offsets,
    index.oldest,
    index.newest,
    index.rows,
    index.firstDevices,
    index.lastDevices,
    index.ends,
  ];
  const body = Buffer.concat([
    lengths,
    head,
    Buffer.alloc(padding, ' '),
    ...tables.map((table) => new Uint8Array(table.buffer, table.byteOffset, table.byteLength)),
  ]);
  const footer = Buffer.alloc(runFooterBytes);
  footer.writeUInt32LE(body.length, 0);
  footer.writeUInt32LE(crc32(body), 4);
  footer.writeUInt32LE(runMagic, 12);
  return Buffer.concat([body, footer]);
}

/** The length of the index before the footer. Throws DamagedChunk when it is no footer of a run of that size. */
function indexLength(footer: Buffer, fileBytes: number, path: string): number {
  const length = footer.readUInt32LE(0);
  if (footer.readUInt32LE(12) !== runMagic || length > fileBytes - runFooterBytes)
    throw new DamagedChunk(`The footer of ${path} is damaged`);
  return length;
}

/** Throws DamagedChunk when the checksum of the footer does not match, and OtherFormatError. */
function decodeIndex(body: Buffer, footer: Buffer, path: string, bytes: number): RunIndex {
  if (crc32(body) !== footer.readUInt32LE(4))
    throw new DamagedChunk(`The index of ${path} is damaged`);
  const headLength = body.readUInt32LE(0);
  const head = JSON.parse(body.toString('utf8', 4, 4 + headLength)) as RunHead;
  refuseOtherFormat(path, head.format, runFormat);
  // A copy that begins at its own buffer, so that the tables are aligned.
  const { buffer } = Uint8Array.from(body.subarray(4 + headLength));
  const { pages, sections } = head;
  let at = 0;
  const doubles = (): Float64Array<ArrayBuffer> => {
    const table = new Float64Array(buffer, at, pages);
    at += table.byteLength;
    return table;
  };
  const words = (length: number): Uint32Array<ArrayBuffer> => {
    const table = new Uint32Array(buffer, at, length);
    at += table.byteLength;
    return table;
  };
  return {
    head,
    offsets: doubles(),
    oldest: doubles(),
    newest: doubles(),
    rows: words(pages),
    firstDevices: words(pages),
    lastDevices: words(pages),
    ends: words(pages * sections),
    bytes,
  };
}

/** The first page, from `from` on, that can have rows of the device. */
export function firstPageOf({ lastDevices }: RunIndex, device: number, from = 0): number {
  return lowerBound(lastDevices, device, from);
}

/** The length of all sections of a page. */
export function pageBytes({ head, ends }: RunIndex, page: number): number {
  return ends[(page + 1) * head.sections - 1]!;
}

/** Where a section of a page is in the file; without length when the page does not have it. */
export function sectionPlace(
  { head, offsets, ends }: RunIndex,
  page: number,
  section: number,
): { readonly offset: number; readonly length: number } {
  const first = page * head.sections;
  const start = section === 0 ? 0 : ends[first + section - 1]!;
  return { offset: offsets[page]! + start, length: ends[first + section]! - start };
}

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
