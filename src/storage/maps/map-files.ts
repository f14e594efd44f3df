// Map files: the street map in the data folder, found again when it is replaced, and its tiles by fair turns.
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';
import type { TileName } from '../../model/map-tiles.ts';
import { problem } from '../../model/problem.ts';
import { FairTurns } from '../../structures/work-queues.ts';
import { createBoundedMap } from '../../structures/caches.ts';

// PMTiles: reads the tiles of a street map from one file, of which it keeps only directories in memory (specification version 3).

const headerBytes = 127;
const magic = 'PMTiles';
/** The closest zoom whose tile numbers are exact integers of JavaScript. */
const zoomMax = 26;
/** A directory leads to its tiles by at most this many others. */
const depthMax = 4;
const directoriesKept = 64;
const bytesMax = { directory: 8 * 2 ** 20, metadata: 2 ** 20, tile: 2 * 2 ** 20 } as const;
/** Of what a compressed directory becomes: damaged files and bombs end here. */
const inflatedBytesMax = 32 * 2 ** 20;
const inflation = { maxOutputLength: inflatedBytesMax };

const tileTypes: Readonly<Record<number, string>> = {
  1: 'application/vnd.mapbox-vector-tile',
  2: 'image/png',
  3: 'image/jpeg',
  4: 'image/webp',
  5: 'image/avif',
};

/** Where a file has something, in bytes. */
interface Range {
  readonly offset: number;
  readonly length: number;
}

interface Header {
  readonly root: Range;
  readonly metadata: Range;
  readonly leaves: Range;
  readonly tiles: Range;
  /** Of directories and metadata, and of tiles: 1 none, 2 gzip, 3 Brotli. */
  readonly compression: number;
  readonly tileCompression: number;
  readonly contentType: string;
  readonly zoomMin: number;
  readonly zoomMax: number;
}

/** Entries in order of their first tile; one without a run leads to a directory. */
interface Directory {
  readonly firsts: Float64Array;
  readonly runs: Float64Array;
  readonly lengths: Float64Array;
  readonly offsets: Float64Array;
}

/** The file is not what it was when it was opened. */
class FileChanged extends Error {}

class Pmtiles {
  readonly #path: string;
  /** Changes with the content of the file. */
  readonly identity: string;
  readonly #header: Header;
  readonly #directories = createBoundedMap<number, Promise<Directory>>(directoriesKept);
  /** Plain words; empty if the file names nobody. */
  readonly attribution: string;

  private constructor(path: string, identity: string, header: Header, attribution: string) {
    this.#path = path;
    this.identity = identity;
    this.#header = header;
    this.attribution = attribution;
  }

  /** Throws an Error that says what is wrong with the file, or that of the file system. */
  static async open(path: string): Promise<Pmtiles> {
    const { bytes, identity } = await readRange(path, { offset: 0, length: headerBytes });
    const header = headerOf(bytes);
    const attribution = await attributionOf(path, identity, header);
    return new Pmtiles(path, identity, header, attribution);
  }

  get contentType(): string {
    return this.#header.contentType;
  }

  get zoomMax(): number {
    return this.#header.zoomMax;
  }

  /**
   * The bytes of a tile, undefined where the map has none. Throws FileChanged, an Error that says
   * what is wrong with the file, or that of the file system.
   */
  async tile(name: TileName): Promise<Buffer | undefined> {
    const { zoomMin, zoomMax: closest, tileCompression } = this.#header;
    if (name.z < zoomMin || name.z > closest) return undefined;
    const found = await this.#find(tileIdOf(name));
    if (found === undefined) return undefined;
    return inflated(await this.#read(found, bytesMax.tile, 'tile'), tileCompression);
  }

  async #find(tileId: number): Promise<Range | undefined> {
    const { root, leaves, tiles } = this.#header;
    let range = root;
    for (let depth = 0; depth < depthMax; depth++) {
      const { firsts, runs, lengths, offsets } = await this.#directory(range);
      const at = lastAtOrBefore(firsts, tileId);
      const [run = 0, length = 0, offset = 0] = [runs[at], lengths[at], offsets[at]];
      if (at < 0) return undefined;
      if (run > 0) {
        const isInRun = tileId - (firsts[at] ?? 0) < run;
        return isInRun ? within(tiles, { offset, length }, 'tile') : undefined;
      }
      range = within(leaves, { offset, length }, 'directory');
    }
    throw new Error(`it has directories below each other more than ${depthMax} times`);
  }

  #directory(range: Range): Promise<Directory> {
    const known = this.#directories.use(range.offset);
    if (known !== undefined) return known;
    const reading = this.#read(range, bytesMax.directory, 'directory')
      .then((bytes) => inflated(bytes, this.#header.compression))
      .then(directoryOf);
    this.#directories.set(range.offset, reading);
    // What failed may succeed later.
    reading.catch(() => this.#directories.delete(range.offset));
    return reading;
  }

  async #read(range: Range, max: number, what: string): Promise<Buffer> {
    if (range.length > max)
      throw new Error(`it has a ${what} of ${range.length} bytes; the maximum is ${max}`);
    const { bytes, identity } = await readRange(this.#path, range);
    if (identity !== this.identity) throw new FileChanged();
    return bytes;
  }
}

/** Opens the file for each read: it may be replaced at any time, and no handle has to be closed later. */
async function readRange(path: string, { offset, length }: Range) {
  const file = await open(path);
  try {
    const { ino, size, mtimeMs } = await file.stat();
    if (offset + length > size)
      throw new Error(`it ends after ${size} bytes, before what its header names`);
    const bytes = Buffer.allocUnsafe(length);
    for (let at = 0; at < length; ) {
      const { bytesRead } = await file.read(bytes, at, length - at, offset + at);
      if (bytesRead === 0) throw new Error(`it ends after ${offset + at} bytes`);
      at += bytesRead;
    }
    return { bytes, identity: `${ino}-${size}-${mtimeMs}` };
  } finally {
    await file.close();
  }
}

function headerOf(bytes: Buffer): Header {
  if (bytes.toString('latin1', 0, magic.length) !== magic)
    throw new Error('it is not a PMTiles file');
  const version = bytes[7];
  if (version !== 3) throw new Error(`it has PMTiles version ${version}; version 3 is needed`);
  const number = (at: number) => Number(bytes.readBigUInt64LE(at));
  const range = (at: number): Range => ({ offset: number(at), length: number(at + 8) });
  const contentType = tileTypes[bytes[99] ?? 0];
  if (contentType === undefined) throw new Error('it has tiles of an unknown type');
  const header = {
    root: range(8),
    metadata: range(24),
    leaves: range(40),
    tiles: range(56),
    compression: bytes[97] ?? 0,
    tileCompression: bytes[98] ?? 0,
    contentType,
    zoomMin: bytes[100] ?? 0,
    zoomMax: Math.min(zoomMax, bytes[101] ?? 0),
  };
  for (const compression of [header.compression, header.tileCompression])
    if (compression > 3)
      throw new Error('it is compressed with Zstandard or an unknown method; use gzip');
  return header;
}

/** Of the metadata, whose markup and links are left out. */
async function attributionOf(path: string, identity: string, header: Header): Promise<string> {
  const { metadata, compression } = header;
  if (metadata.length === 0) return '';
  if (metadata.length > bytesMax.metadata)
    throw new Error(
      `it has ${metadata.length} bytes of metadata; the maximum is ${bytesMax.metadata}`,
    );
  const read = await readRange(path, metadata);
  if (read.identity !== identity) throw new FileChanged();
  const text = (await inflated(read.bytes, compression)).toString('utf8');
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw new Error('it has metadata that is not JSON');
  }
  const { attribution } = (found ?? {}) as { readonly attribution?: unknown };
  return typeof attribution === 'string' ? plainText(attribution) : '';
}

const characters: Readonly<Record<string, string>> = {
  '&copy;': '©',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&amp;': '&',
};
const attributionMax = 500;

function plainText(markup: string): string {
  const text = markup.replaceAll(/<[^>]*>/g, '');
  const read = text.replaceAll(/&(copy|lt|gt|quot|amp);/g, (name) => characters[name] ?? name);
  return read.trim().slice(0, attributionMax);
}

async function inflated(bytes: Buffer, compression: number): Promise<Buffer> {
  if (compression === 2) return promisify(gunzip)(bytes, inflation);
  if (compression === 3) return promisify(brotliDecompress)(bytes, inflation);
  return bytes;
}

/** Columns of variable-length integers: first tiles as differences, runs, lengths, offsets. */
function directoryOf(bytes: Buffer): Directory {
  let at = 0;
  function next(): number {
    let value = 0;
    let factor = 1;
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined || factor > 2 ** 56) throw new Error('it has a damaged directory');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
      factor *= 128;
    }
  }
  const count = next();
  // Each entry has at least a byte in each of four columns.
  if (count * 4 > bytes.length) throw new Error('it has a damaged directory');
  const column = (read: (at: number) => number) => {
    const numbers = new Float64Array(count);
    for (let row = 0; row < count; row++) numbers[row] = read(row);
    return numbers;
  };
  let first = 0;
  const firsts = column(() => (first += next()));
  const runs = column(next);
  const lengths = column(next);
  let end = 0;
  const offsets = column((row) => {
    const sent = next();
    // 0: directly behind the entry before.
    const offset = sent === 0 ? end : sent - 1;
    end = offset + (lengths[row] ?? 0);
    return offset;
  });
  return { firsts, runs, lengths, offsets };
}

function within(section: Range, { offset, length }: Range, what: string): Range {
  if (offset + length > section.length)
    throw new Error(`it has a ${what} outside of its section, at ${offset}`);
  return { offset: section.offset + offset, length };
}

/** -1 when all come later. */
function lastAtOrBefore(sorted: Float64Array, wanted: number): number {
  let [low, high] = [0, sorted.length - 1];
  while (low <= high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= wanted) low = middle + 1;
    else high = middle - 1;
  }
  return high;
}

/** The number of a tile: after all of smaller zooms, then along a Hilbert curve. */
export function tileIdOf({ z, x, y }: TileName): number {
  const side = 2 ** z;
  let id = (4 ** z - 1) / 3;
  let [column, row] = [x, y];
  for (let half = side / 2; half >= 1; half /= 2) {
    const isRight = (column & half) > 0;
    const isLower = (row & half) > 0;
    id += half * half * ((isRight ? 3 : 0) ^ (isLower ? 1 : 0));
    if (isLower) continue;
    const [turnedColumn, turnedRow] = isRight ? [side - 1 - row, side - 1 - column] : [row, column];
    column = turnedColumn;
    row = turnedRow;
  }
  return id;
}

/** A file that an operator adds or replaces is found after this time. */
const lookAgainMs = 10_000;
/** Reads share the threads of the file system with the journal. */
const runningMax = 2;
const waitingPerOrganizationMax = 256;
const organizationsMax = 1_000;

export interface FoundMap {
  readonly name: string;
  readonly contentType: string;
  readonly zoomMax: number;
  readonly attribution: string;
}

interface Opened {
  readonly name: string;
  /** Undefined for a file that cannot be read; `reason` says why. */
  readonly tiles: Pmtiles | undefined;
  readonly reason: string;
}

export class MapFiles {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #turns = new FairTurns(
    { runningMax, waitingPerKeyMax: waitingPerOrganizationMax, keysMax: organizationsMax },
    () =>
      problem('quotaBusy', {
        limitName: 'mapTilesWaiting',
        limitMax: waitingPerOrganizationMax,
        per: 'organization',
        what: 'map tiles waiting',
        retryAfterSeconds: 1,
      }),
  );
  #lookedAt = Number.NEGATIVE_INFINITY;
  #opened: Promise<Opened | undefined> = Promise.resolve(undefined);

  /** `folder` is looked at when somebody asks, and need not exist. `now` is in milliseconds. */
  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** The first `*.pmtiles` by name; undefined without one. Throws Problem `mapFileUnreadable`. */
  async find(): Promise<FoundMap | undefined> {
    const opened = await this.#open();
    if (opened === undefined) return undefined;
    const { contentType, zoomMax, attribution } = readable(opened);
    return { name: opened.name, contentType, zoomMax, attribution };
  }

  /**
   * A tile with its content type, `bytes` undefined where the map has none, and nothing at all
   * without a file or once the caller is gone. Throws Problem `mapFileUnreadable`, and 429 when too many tiles of the organization wait.
   */
  tile(organizationId: string, name: TileName, signal: AbortSignal) {
    return this.#turns.run(organizationId, async () => {
      if (signal.aborted) return undefined;
      // Once more, for a file that was replaced since.
      for (let isLast = false; ; isLast = true) {
        const opened = await this.#open();
        if (opened === undefined) return undefined;
        const tiles = readable(opened);
        try {
          return { contentType: tiles.contentType, bytes: await tiles.tile(name) };
        } catch (error) {
          this.#lookedAt = Number.NEGATIVE_INFINITY;
          if (!isLast && (error instanceof FileChanged || isGone(error))) continue;
          throw unreadable(opened.name, messageOf(error));
        }
      }
    });
  }

  #open(): Promise<Opened | undefined> {
    const now = this.#now();
    if (now - this.#lookedAt < lookAgainMs) return this.#opened;
    this.#lookedAt = now;
    const before = this.#opened;
    this.#opened = this.#look(before);
    return this.#opened;
  }

  async #look(before: Promise<Opened | undefined>): Promise<Opened | undefined> {
    const name = await this.#firstName();
    if (name === undefined) return undefined;
    const path = join(this.#folder, name);
    try {
      const known = await before;
      const { ino, size, mtimeMs } = await stat(path);
      if (known?.name === name && known.tiles?.identity === `${ino}-${size}-${mtimeMs}`)
        return known;
      return { name, tiles: await Pmtiles.open(path), reason: '' };
    } catch (error) {
      return { name, tiles: undefined, reason: messageOf(error) };
    }
  }

  async #firstName(): Promise<string | undefined> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (isGone(error)) return [];
      throw unreadable('maps', messageOf(error));
    });
    return names.filter((name) => name.endsWith('.pmtiles')).toSorted()[0];
  }
}

function readable({ name, tiles, reason }: Opened): Pmtiles {
  if (tiles === undefined) throw unreadable(name, reason);
  return tiles;
}

function unreadable(name: string, reason: string) {
  return problem('mapFileUnreadable', { name, reason });
}

/** Errors of the file system name folders of the server, which tenants need not know. */
function messageOf(error: unknown): string {
  if (error instanceof FileChanged) return 'it is being replaced';
  const systemCode = systemCodeOf(error);
  if (systemCode !== undefined) return systemCode;
  return error instanceof Error ? error.message : String(error);
}

function isGone(error: unknown): boolean {
  return systemCodeOf(error) === 'ENOENT';
}

function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
