// Segments of the journal: their list in memory, the start of each, and sparse marks that say where to begin reading.
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpochMs } from '../../model/instant.ts';
import { refuseOtherFormat } from '../../model/errors.ts';
import { frameHeaderBytes, frameOf, frameTypes, readFrame } from './frame.ts';

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
  return frameOf({ type: frameTypes.segmentStart, position, storedAt }, payload);
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
