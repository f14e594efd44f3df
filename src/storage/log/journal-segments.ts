// Segments of the journal: their list in memory, the start of each, and their frames read in bounded windows over damage.
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpochMs } from '../../model/instant.ts';
import { refuseOtherFormat } from '../../model/errors.ts';
import {
  findFrame,
  type Frame,
  frameBytes,
  frameHeaderBytes,
  frameTypes,
  readFrame,
  writeFrame,
} from './frame.ts';

const windowBytes = 256 * 1024;

/** Bytes of a segment that hold no readable frame. */
export interface SegmentDamage {
  readonly offset: number;
  readonly bytes: number;
}

export interface ScannedFrames {
  readonly frames: readonly Frame[];
  /** File offset of the first frame of the batch. */
  readonly offset: number;
  /** File offset behind the last frame of the batch. */
  readonly end: number;
  /**
   * What was stepped over before the first frame of this batch, or, in the last batch without
   * frames, up to the end.
   */
  readonly damage: SegmentDamage | undefined;
}

/**
 * The frames between two file offsets, in batches of some hundred kilobytes. A bad frame ends a
 * batch; the next one begins at the next readable frame. Bytes at the end that hold no frame are
 * reported by a last batch without frames. A bad frame behind `synced` ends the scan: of what no sync
 * made durable, a power cut leaves any part, which is no damage.
 */
export async function* scanSegment(
  path: string,
  from: number,
  to: number,
  synced = Number.POSITIVE_INFINITY,
): AsyncGenerator<ScannedFrames> {
  const file = await open(path, 'r');
  try {
    let offset = from;
    let damagedFrom: number | undefined;
    while (offset < to) {
      let window = await readWindow(file, offset, Math.min(windowBytes, to - offset));
      if (window.length === 0) break;
      // A frame larger than the window: read as much as its header claims, or all there is when
      // that is damage.
      if (readFrame(window, 0) === 'short' && offset + window.length < to)
        window = await readWindow(file, offset, Math.min(claimedBytes(window), to - offset));
      const frames = framesAt(window);
      if (frames.length === 0) {
        if (damagedFrom === undefined && offset >= synced) return;
        damagedFrom ??= offset;
        const next = findFrame(window, 1);
        // The last three bytes may be the beginning of the mark that is searched for.
        const skipped =
          next > 0 ? next : Math.max(1, window.length - (offset + window.length < to ? 3 : 0));
        offset += skipped;
        continue;
      }
      const end = offset + frames.reduce((bytes, frame) => bytes + frameBytes(frame), 0);
      const damage =
        damagedFrom === undefined
          ? undefined
          : { offset: damagedFrom, bytes: offset - damagedFrom };
      damagedFrom = undefined;
      yield { frames, offset, end, damage };
      offset = end;
    }
    if (damagedFrom !== undefined)
      yield {
        frames: [],
        offset: to,
        end: to,
        damage: { offset: damagedFrom, bytes: to - damagedFrom },
      };
  } finally {
    await file.close();
  }
}

function framesAt(window: Buffer): Frame[] {
  const frames: Frame[] = [];
  let at = 0;
  for (;;) {
    const frame = readFrame(window, at);
    if (frame === 'short' || frame === 'bad') return frames;
    frames.push(frame);
    at += frameBytes(frame);
  }
}

function claimedBytes(window: Buffer): number {
  return window.length < 12 ? windowBytes : 28 + window.readUInt32LE(8);
}

async function readWindow(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

// The journal's segment files in memory: names, sizes, and sparse marks that say where to begin reading.

const suffix = '.journal';
const markEveryBytes = 1024 * 1024;

/** Reading for a position or time may begin at the last mark before it. */
interface Mark {
  readonly position: number;
  readonly storedAt: EpochMs;
  readonly offset: number;
}

export interface Segment {
  readonly path: string;
  readonly firstPosition: number;
  /** Bytes that are durable. */
  bytes: number;
  /** Time of storing of the newest frame; undefined before the segment was looked into. */
  lastStoredAt: EpochMs | undefined;
  readonly marks: Mark[];
}

function segmentPath(directory: string, firstPosition: number): string {
  return join(directory, String(firstPosition).padStart(15, '0') + suffix);
}

export function newSegment(directory: string, firstPosition: number): Segment {
  return {
    path: segmentPath(directory, firstPosition),
    firstPosition,
    bytes: 0,
    lastStoredAt: undefined,
    marks: [],
  };
}

/** The segments of the folder, oldest first, sizes not yet known; none without the folder. */
export async function listSegments(directory: string): Promise<Segment[]> {
  const names = (await namesIn(directory)).filter((name) => /^\d{15}\.journal$/.test(name)).sort();
  return names.map((name) => newSegment(directory, Number(name.slice(0, -suffix.length))));
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

/** Keeps a mark when the last one is far enough away. */
export function addMark(segment: Segment, mark: Mark): void {
  const last = segment.marks.at(-1);
  if (last === undefined || mark.offset - last.offset >= markEveryBytes) segment.marks.push(mark);
}

/** The offset at which to begin looking for the first frame that `isBefore` does not hold for. */
export function offsetBefore(segment: Segment, isBefore: (mark: Mark) => boolean): number {
  let offset = 0;
  for (const mark of segment.marks) {
    if (!isBefore(mark)) break;
    offset = mark.offset;
  }
  return offset;
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
  const bytes = Buffer.alloc(frameHeaderBytes + payload.length);
  writeFrame(bytes, 0, { type: frameTypes.segmentStart, position, storedAt }, payload);
  return bytes;
}

/** What the frame says besides its time; that of format 1 was empty. */
interface StartPayload {
  readonly format?: number;
  readonly lostTo?: number;
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
    const start = payload.length === 0 ? {} : (JSON.parse(payload.toString()) as StartPayload);
    refuseOtherFormat(path, start.format, journalFormat);
    return { storedAt, lostTo: start.lostTo };
  } finally {
    await file.close();
  }
}
