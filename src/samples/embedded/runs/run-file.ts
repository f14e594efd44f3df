// Run file: a run on the disk; its index is in memory, sections are read when needed.
import { DamagedChunk } from '../chunks/chunk.ts';
import type { SegmentFile } from '../segments/segment-file.ts';
import { checkedSection } from './page-reader.ts';
import {
  decodeIndex,
  indexLength,
  runFooterBytes,
  type RunIndex,
  sectionPlace,
} from './run-index.ts';

export interface RunFile {
  readonly file: SegmentFile;
  readonly index: RunIndex;
  /** The checked content of a section, undefined when the page does not have it. Throws DamagedChunk. */
  readonly section: (page: number, section: number) => Uint8Array | undefined;
}

/** Reads the index unless it is given. Throws DamagedChunk or NewerFormatError and leaves the file open. */
export function readRun(file: SegmentFile, index: RunIndex = readIndex(file)): RunFile {
  return {
    file,
    index,
    section: (page, section) => {
      const { offset, length } = sectionPlace(index, page, section);
      if (length === 0) return undefined;
      const name = `Section ${section} of page ${page} of ${file.name}`;
      return checkedSection(file.read(offset, length), name);
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
