// Files of InfluxDB: line protocol of `influx_inspect export` and `influxd inspect export-lp`, and annotated CSV.
import { createReadStream, openSync, readSync, closeSync } from 'node:fs';
import { createGunzip } from 'node:zlib';
import {
  createLineReader,
  isFault,
  type LineReader,
  type Point,
} from '../../src/transports/line-protocol/line-reader.ts';
import { createCsvLines } from './annotated-csv.ts';
import type { Place } from './moved.ts';

export interface PointSink {
  readonly point: (point: Point, place: Place) => void;
  readonly fault: (place: Place, line: string, reason: string) => void;
  /** Undefined reads all databases except that of the server itself. */
  readonly database: string | undefined;
  readonly signal: AbortSignal;
}

/** A string with newlines that is longer is an unbalanced quote. */
const openStringMax = 1024 * 1024;

/** Reads a file, plain or compressed by gzip, in bounded memory. */
export async function readInfluxFile(file: string, sink: PointSink): Promise<void> {
  const take = startsCsv(file) ? createCsvTaker(file, sink) : createLineTaker(file, sink);
  let rest = '';
  for await (const chunk of textOf(file, sink.signal)) {
    const text = rest + chunk;
    const end = text.lastIndexOf('\n') + 1;
    rest = take(text.slice(0, end), false) + text.slice(end);
  }
  take(`${rest}\n`, true);
}

/** Takes whole lines; returns those that it wants again, with more behind them. */
type Take = (text: string, isEnd: boolean) => string;

async function* textOf(file: string, signal: AbortSignal): AsyncGenerator<string> {
  const bytes = createReadStream(file, { highWaterMark: 256 * 1024, signal });
  const stream = isGzip(file) ? bytes.pipe(createGunzip()) : bytes;
  bytes.on('error', (error) => stream.destroy(error));
  const decoder = new TextDecoder();
  for await (const chunk of stream) yield decoder.decode(chunk as Buffer, { stream: true });
}

function startOf(file: string): Buffer {
  const handle = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(64);
    return buffer.subarray(0, readSync(handle, buffer, 0, buffer.byteLength, 0));
  } finally {
    closeSync(handle);
  }
}

function isGzip(file: string): boolean {
  const [first, second] = startOf(file);
  return first === 0x1f && second === 0x8b;
}

/** The name of a compressed file shows its format. */
function startsCsv(file: string): boolean {
  if (isGzip(file)) return /\.csv\.gz$/i.test(file);
  return /^(?:\ufeff)?(?:#(?:datatype|group|default),|,result,)/.test(startOf(file).toString());
}

const ownDatabase = '_internal';
/** Lines of an export that are neither points nor comments. */
const otherLines = /^(?:CREATE |DROP |skipped missing file:)/;

function createLineTaker(file: string, sink: PointSink): Take {
  let line = 0;
  let database: string | undefined;

  const isWanted = (): boolean =>
    sink.database === undefined ? database !== ownDatabase : database === sink.database;

  /** Undefined when all was read; else where the line of an open string begins. */
  function takeSection(text: string, isEnd: boolean): number | undefined {
    const reader = createLineReader([text]);
    for (let read = reader.next(); read !== undefined; read = reader.next()) {
      const place = { file, line: line + reader.line() };
      if (!isFault(read)) sink.point(read, place);
      else if (read.reason === 'unbalanced quotes' && !isEnd && text.length < openStringMax)
        return lineStart(text, reader);
      else if (!otherLines.test(reader.text())) sink.fault(place, reader.text(), read.reason);
    }
    return undefined;
  }

  return (text, isEnd) => {
    for (const section of text.split(/^(?=# CONTEXT-DATABASE:)/m)) {
      database = /^# CONTEXT-DATABASE:(.*)/.exec(section)?.[1]?.trim() ?? database;
      const open = isWanted() ? takeSection(section, isEnd) : undefined;
      const taken = open === undefined ? section : section.slice(0, open);
      line += newlinesIn(taken);
      if (open !== undefined) return text.slice(text.indexOf(section) + open);
    }
    return '';
  };
}

function lineStart(text: string, reader: LineReader): number {
  let at = 0;
  for (let i = 1; i < reader.line(); i++) at = text.indexOf('\n', at) + 1;
  return at;
}

function newlinesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

function createCsvTaker(file: string, { point, fault }: PointSink): Take {
  const rows = createCsvLines();
  let line = 0;

  function takeRow(row: string): void {
    const place = { file, line };
    try {
      const written = rows.lineOf(row.replace(/\r?\n?$/, ''));
      const read = written === undefined ? undefined : createLineReader([written]).next();
      if (read === undefined) return;
      if (isFault(read)) fault(place, row, read.reason);
      else point(read, place);
    } catch (error) {
      fault(place, row, (error as Error).message);
    }
  }

  return (text, isEnd) => {
    let row = '';
    const lines = text.split(/(?<=\n)/);
    for (const [i, one] of lines.entries()) {
      row += one;
      // A quoted cell can contain newlines.
      const isOpen = row.split('"').length % 2 === 0;
      if (isOpen && i < lines.length - 1 && row.length < openStringMax) continue;
      if (isOpen && !isEnd && row.length < openStringMax) return row;
      line++;
      takeRow(row);
      line += newlinesIn(row) - 1;
      row = '';
    }
    return '';
  };
}
