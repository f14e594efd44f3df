// Blocks and segments of the journal: entries of one group under one checksum, with all definitions that they use.
// Payload of the frame: bytes of the group before the block u32, bytes of the group u32, entries
// u32, then items. A definition is: 2 * bytes + 1 varint, bytes; its number is its place among those of
// the block. An entry is: 2 * bytes varint, milliseconds since the entry before varint, definitions
// varint, the number of each varint, bytes.
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpochMs } from '../../model/instant.ts';
import { ByteReader, ByteWriter } from '../../structures/bytes.ts';
import { missing } from '../../structures/missing.ts';
import {
  type Frame,
  frameHeaderBytes,
  frameOf,
  frameTypes,
  readFrame,
  sealFrame,
} from './frame.ts';
import { refuseOtherFormat } from '../../model/problem.ts';

/** What entries share. The same object is written once in each block. */
export interface Definition {
  readonly bytes: Buffer;
}

export interface EncodedEntry {
  readonly payload: Buffer;
  /** The first bytes that are the entry; all of them when undefined. */
  readonly payloadBytes?: number;
  readonly definitions: readonly Definition[];
}

/** An entry as the journal keeps it. */
export interface KeptEntry {
  readonly position: number;
  /** Never decreasing along the journal. */
  readonly storedAt: EpochMs;
  /** A view into what was read. */
  readonly payload: Buffer;
  /** The same buffers for all entries of a block. */
  readonly definitions: readonly Buffer[];
}

/** A harmed byte costs the entries of a block, and each block repeats the definitions. */
const blockBytesMax = 32 * 1024;
const blockHeadBytes = 12;
const emptyHead = Buffer.alloc(frameHeaderBytes + blockHeadBytes);

interface Block {
  readonly offset: number;
  readonly position: number;
  readonly storedAt: EpochMs;
  readonly numbers: Map<Definition, number>;
  entries: number;
  lastStoredAt: EpochMs;
}

/** What one sync makes durable together: blocks of entries in the order of their positions. */
export class BlockGroup {
  readonly #to = new ByteWriter(64 * 1024);
  readonly #blocks: Block[] = [];
  #block: Block | undefined;

  /** Bytes of the group so far; 0 without entries. */
  get bytes(): number {
    return this.#to.length;
  }

  /** Copies the entry into the group; says how many bytes that took. */
  add(
    position: number,
    storedAt: EpochMs,
    { payload, payloadBytes = payload.length, definitions }: EncodedEntry,
  ): number {
    const to = this.#to;
    const before = to.length;
    let block = this.#block;
    if (block === undefined || before - block.offset >= blockBytesMax)
      block = this.#begin(position, storedAt);
    const { numbers } = block;
    for (const definition of definitions) define(to, numbers, definition);
    to.varint(2 * payloadBytes);
    to.varint(storedAt - block.lastStoredAt);
    to.varint(definitions.length);
    for (const definition of definitions)
      to.varint(numbers.get(definition) ?? missing('number of a definition'));
    to.firstBytes(payload, payloadBytes);
    block.entries += 1;
    block.lastStoredAt = storedAt;
    return to.length - before;
  }

  #begin(position: number, storedAt: EpochMs): Block {
    const numbers = new Map<Definition, number>();
    const offset = this.#to.length;
    const block = { offset, position, storedAt, numbers, entries: 0, lastStoredAt: storedAt };
    this.#to.bytes(emptyHead);
    this.#blocks.push(block);
    this.#block = block;
    return block;
  }

  /** The bytes of the whole group, valid until it is cleared. */
  seal(): Buffer {
    const bytes = this.#to.written();
    for (const [i, one] of this.#blocks.entries()) {
      const end = this.#blocks[i + 1]?.offset ?? bytes.length;
      sealBlock(bytes.subarray(0, end), one, bytes.length);
    }
    return bytes;
  }

  clear(): void {
    this.#to.reset();
    this.#blocks.length = 0;
    this.#block = undefined;
  }
}

function define(to: ByteWriter, numbers: Map<Definition, number>, definition: Definition): void {
  if (numbers.has(definition)) return;
  numbers.set(definition, numbers.size);
  to.varint(2 * definition.bytes.length + 1);
  to.bytes(definition.bytes);
}

/** Completes the block that the bytes end with. */
function sealBlock(bytes: Buffer, block: Block, groupBytes: number): void {
  const { offset, position, storedAt, entries } = block;
  bytes.writeUInt32LE(offset, offset + frameHeaderBytes);
  bytes.writeUInt32LE(groupBytes, offset + frameHeaderBytes + 4);
  bytes.writeUInt32LE(entries, offset + frameHeaderBytes + 8);
  sealFrame(bytes, offset, { type: frameTypes.block, position, storedAt });
}

/** What one sync made durable with the frame at the offset, as offsets in the file; undefined for the first frame of a segment. */
export function groupOf(
  { type, payload }: Frame,
  offset: number,
):
  | {
      readonly start: number;
      readonly end: number;
    }
  | undefined {
  if (type !== frameTypes.block) return undefined;
  const start = offset - payload.readUInt32LE(0);
  return { start, end: start + payload.readUInt32LE(4) };
}

/** How many entries a frame has. */
export function entryCountOf({ type, payload }: Frame): number {
  return type === frameTypes.block ? payload.readUInt32LE(8) : 0;
}

/** The entries of a frame, in their order. */
export function entriesOf({ type, position, storedAt, payload }: Frame): KeptEntry[] {
  return type === frameTypes.block ? blockEntries(payload, position, storedAt) : [];
}

function blockEntries(payload: Buffer, first: number, since: EpochMs): KeptEntry[] {
  const from = new ByteReader(payload);
  const known: Buffer[] = [];
  const entries: KeptEntry[] = [];
  let storedAt = since;
  from.at = blockHeadBytes;
  while (!from.isAtEnd) {
    const head = from.varint();
    const bytes = Math.floor(head / 2);
    if (head % 2 === 1) {
      known.push(taken(from, payload, bytes));
      continue;
    }
    storedAt += from.varint();
    const definitions: Buffer[] = [];
    for (let left = from.varint(); left > 0; left--)
      definitions.push(known[from.varint()] ?? missing('definition'));
    const position = first + entries.length;
    entries.push({ position, storedAt, payload: taken(from, payload, bytes), definitions });
  }
  return entries;
}

function taken(from: ByteReader, payload: Buffer, bytes: number): Buffer {
  const start = from.at;
  from.at += bytes;
  return payload.subarray(start, from.at);
}

// Segments of the journal: their list in memory, the start of each, and sparse marks that say where to begin reading.

const suffix = '.journal';
const markEveryBytes = 1024 * 1024;

/** Reading for a position or time may begin at the last mark before it. */
interface Mark {
  readonly position: number;
  readonly storedAt: EpochMs;
  readonly offset: number;
}

export class Segment {
  readonly path: string;
  readonly firstPosition: number;
  /** Bytes that are durable. */
  bytes = 0;
  /** Time of storing of the newest frame; undefined before the segment was looked into. */
  lastStoredAt: EpochMs | undefined;
  readonly marks: Mark[] = [];

  constructor(directory: string, firstPosition: number) {
    this.path = join(directory, String(firstPosition).padStart(15, '0') + suffix);
    this.firstPosition = firstPosition;
  }

  /** Keeps a mark when the last one is far enough away. */
  addMark(mark: Mark): void {
    const last = this.marks.at(-1);
    if (last === undefined || mark.offset - last.offset >= markEveryBytes) this.marks.push(mark);
  }

  /** The offset at which to begin looking for the first frame that `isBefore` does not hold for. */
  offsetBefore(isBefore: (mark: Mark) => boolean): number {
    let offset = 0;
    for (const mark of this.marks) {
      if (!isBefore(mark)) break;
      offset = mark.offset;
    }
    return offset;
  }
}

/** The segments of the folder, oldest first, sizes not yet known; none without the folder. */
export async function listSegments(directory: string): Promise<Segment[]> {
  const names = (await namesIn(directory)).filter((name) => /^\d{15}\.journal$/.test(name)).sort();
  return names.map((name) => new Segment(directory, Number(name.slice(0, -suffix.length))));
}

/** Names of the files of the folder; none without it. */
export async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/** The first position of the oldest segment of the folder; undefined without any. */
export async function journalStart(directory: string): Promise<number | undefined> {
  return (await listSegments(directory))[0]?.firstPosition;
}

// Segment start: format, time of the newest entry before the segment, and losses before it.

const journalFormat = 3;
const payloadBytesMax = 4_096;

interface SegmentStart {
  /** Of the newest entry before the segment. */
  readonly storedAt: EpochMs;
  /** Entries before this position and behind the segment before were acknowledged and are lost. */
  readonly lostTo?: number | undefined;
}

/** The bytes of the frame. */
export function segmentStartBytes(position: number, { storedAt, lostTo }: SegmentStart): Buffer {
  const payload = Buffer.from(JSON.stringify({ format: journalFormat, lostTo }));
  return frameOf({ type: frameTypes.segmentStart, position, storedAt }, payload);
}

/**
 * The first frame of the file; undefined when it is not whole. Throws OtherFormatError for a file
 * of another format.
 */
export async function readSegmentStart(path: string): Promise<SegmentStart | undefined> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(frameHeaderBytes + payloadBytesMax);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    const frame = readFrame(buffer.subarray(0, bytesRead), 0);
    if (typeof frame === 'string' || frame.type !== frameTypes.segmentStart) return undefined;
    const { payload, storedAt } = frame;
    // The payload of format 1 was empty.
    const start =
      payload.length === 0
        ? {}
        : (JSON.parse(payload.toString()) as {
            readonly format?: number;
            readonly lostTo?: number;
          });
    refuseOtherFormat(path, start.format, journalFormat);
    return { storedAt, lostTo: start.lostTo };
  } finally {
    await file.close();
  }
}
