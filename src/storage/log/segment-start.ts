// Segment start: format, time of the newest entry before the segment, and losses before it.
import { open } from 'node:fs/promises';
import type { EpochMs } from '../../model/instant.ts';
import { refuseOtherFormat } from '../../model/other-format.ts';
import { frameHeaderBytes, frameTypes, readFrame, writeFrame } from './frame.ts';

const journalFormat = 3;
const payloadBytesMax = 4_096;

export interface SegmentStart {
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
