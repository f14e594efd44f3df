// Segment start: format, time of the newest entry before the segment, and losses before it.
import { open } from 'node:fs/promises';
import type { EpochMs } from '../model/instant.ts';
import { refuseNewerFormat } from '../model/newer-format.ts';
import { type Frame, frameHeaderBytes, frameTypes, readFrame, writeFrame } from './frame.ts';

/** From this format on every group has a head. */
export const formatWithGroups = 2;
/**
 * Format 1 had no payload in this frame and no heads of groups; up to format 2 each entry was a
 * frame with a JSON head.
 */
export const journalFormat = 3;
const payloadBytesMax = 4_096;

export interface SegmentStart {
  readonly format: number;
  /** Of the newest entry before the segment. */
  readonly storedAt: EpochMs;
  /** Entries before this position and behind the segment before were acknowledged and are lost. */
  readonly lostTo?: number | undefined;
}

/** The bytes of the frame. */
export function segmentStartBytes(
  position: number,
  { storedAt, lostTo }: Omit<SegmentStart, 'format'>,
): Buffer {
  const payload = Buffer.from(JSON.stringify({ format: journalFormat, lostTo }));
  const bytes = Buffer.alloc(frameHeaderBytes + payload.length);
  writeFrame(bytes, 0, { type: frameTypes.segmentStart, position, storedAt }, payload);
  return bytes;
}

function segmentStartOf({ payload, storedAt }: Frame): SegmentStart {
  if (payload.length === 0) return { format: 1, storedAt };
  const { format, lostTo } = JSON.parse(payload.toString()) as Pick<
    SegmentStart,
    'format' | 'lostTo'
  >;
  return { format, storedAt, lostTo };
}

/**
 * The first frame of the file; undefined when it is not whole. Throws NewerFormatError for a file
 * of a newer version of the program.
 */
export async function readSegmentStart(path: string): Promise<SegmentStart | undefined> {
  const file = await open(path, 'r');
  try {
    const buffer = Buffer.alloc(frameHeaderBytes + payloadBytesMax);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    const frame = readFrame(buffer.subarray(0, bytesRead), 0);
    if (typeof frame === 'string' || frame.type !== frameTypes.segmentStart) return undefined;
    const start = segmentStartOf(frame);
    refuseNewerFormat(path, start.format, journalFormat);
    return start;
  } finally {
    await file.close();
  }
}
