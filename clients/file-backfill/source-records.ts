// Reads records of a CSV or NDJSON file from any record on, with line number and end offset.
import { createReadStream } from 'node:fs';

export interface SourceRecord {
  readonly text: string;
  /** Counted from 1. */
  readonly line: number;
  /** Bytes of the file up to the end of the record: where the next one begins. */
  readonly endByte: number;
  /** Lines up to there. */
  readonly endLine: number;
}

export interface SourcePlace {
  readonly byte: number;
  /** Lines before the place. */
  readonly line: number;
}

export const fileStart: SourcePlace = { byte: 0, line: 0 };

const recordBytesMax = 2 * 1024 * 1024;
const newline = 0x0a;
const quote = 0x22;

/**
 * Blank lines are skipped. With `quotes` a line end within double quotes does not end a record (RFC
 * 4180).
 */
export async function* sourceRecords(
  path: string,
  from: SourcePlace,
  quotes: boolean,
  signal: AbortSignal,
): AsyncGenerator<SourceRecord> {
  let held: Buffer = Buffer.alloc(0);
  let heldFrom = from.byte;
  let { line } = from;
  let lineEnds = 0;
  let inQuotes = false;
  const record = (end: number): SourceRecord => {
    const text = held
      .toString('utf8', 0, end)
      .replace(/^\ufeff/, '')
      .replace(/\r?\n$/, '');
    const made = { text, line: line + 1, endByte: heldFrom + end, endLine: line + lineEnds };
    line += lineEnds;
    lineEnds = 0;
    heldFrom += end;
    held = held.subarray(end);
    return made;
  };
  for await (const chunk of createReadStream(path, {
    start: from.byte,
    highWaterMark: 256 * 1024,
    signal,
  })) {
    let at = held.length;
    held = Buffer.concat([held, chunk as Buffer]);
    while (at < held.length) {
      const byte = held[at++]!;
      if (quotes && byte === quote) inQuotes = !inQuotes;
      else if (byte === newline) {
        lineEnds++;
        if (inQuotes) continue;
        const made = record(at);
        at = 0;
        if (made.text.trim() !== '') yield made;
      }
    }
    if (held.length > recordBytesMax)
      throw new Error(
        `Line ${line + 1} is longer than ${recordBytesMax} bytes${quotes ? ': is a quote not closed?' : ''}`,
      );
  }
  if (held.length === 0) return;
  lineEnds++;
  const last = record(held.length);
  if (last.text.trim() !== '') yield last;
}
