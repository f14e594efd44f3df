// Reading a journal segment from any frame on, in bounded windows, stepping over damage and saying so.
import { type FileHandle, open } from 'node:fs/promises';
import { type Frame, findFrame, frameBytes, readFrame } from './frame.ts';

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
