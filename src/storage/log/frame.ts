// Frames of append-only files: a payload with its position, time and checksum each, scanned over damage.
// Layout, little endian: magic u32, CRC32 u32 (of everything behind it), payload bytes u32,
// position u32 + u16, type u16, time f64, payload.
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import type { EpochMs } from '../../model/instant.ts';

type FrameHead = Omit<Frame, 'payload'>;

export const frameHeaderBytes = 28;
/** Nothing larger is ever written, so a larger length is damage. */
const framePayloadBytesMax = 512 * 1024 * 1024;

/** Development versions wrote 1 and 2. */
export const frameTypes = { segmentStart: 0, block: 3 } as const;

const magic = 0x314a_4c48;
const magicBytes = Buffer.from([0x48, 0x4c, 0x4a, 0x31]);

export interface Frame {
  readonly type: number;
  readonly position: number;
  /** Time of storing, never decreasing along the journal. */
  readonly storedAt: EpochMs;
  /** A view into the buffer that was read. */
  readonly payload: Buffer;
}

/**
 * Writes the frame at `offset` and returns the offset behind it; the target must be large enough.
 */
export function writeFrame(
  target: Buffer,
  offset: number,
  frame: FrameHead,
  payload: Uint8Array,
): number {
  const end = offset + frameHeaderBytes + payload.length;
  target.set(payload, offset + frameHeaderBytes);
  sealFrame(target.subarray(0, end), offset, frame);
  return end;
}

/** The bytes of a file that has only this frame. */
export function frameOf(frame: FrameHead, payload: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafeSlow(frameHeaderBytes + payload.length);
  writeFrame(bytes, 0, frame, payload);
  return bytes;
}

/** Completes the frame at `offset`, whose payload is there already and ends with the bytes. */
export function sealFrame(target: Buffer, offset: number, frame: FrameHead): void {
  target.writeUInt32LE(magic, offset);
  target.writeUInt32LE(target.length - offset - frameHeaderBytes, offset + 8);
  target.writeUIntLE(frame.position, offset + 12, 6);
  target.writeUInt16LE(frame.type, offset + 18);
  target.writeDoubleLE(frame.storedAt, offset + 20);
  target.writeUInt32LE(crc32(target.subarray(offset + 8)), offset + 4);
}

/**
 * The frame at `offset`; `short` when the buffer ends before the frame does, `bad` when there is no
 * whole, unharmed frame.
 */
export function readFrame(source: Buffer, offset: number): Frame | 'short' | 'bad' {
  if (source.length - offset < frameHeaderBytes) return 'short';
  if (source.readUInt32LE(offset) !== magic) return 'bad';
  const length = source.readUInt32LE(offset + 8);
  if (length > framePayloadBytesMax) return 'bad';
  const end = offset + frameHeaderBytes + length;
  if (end > source.length) return 'short';
  if (crc32(source.subarray(offset + 8, end)) !== source.readUInt32LE(offset + 4)) return 'bad';
  return {
    type: source.readUInt16LE(offset + 18),
    position: source.readUIntLE(offset + 12, 6),
    storedAt: source.readDoubleLE(offset + 20),
    payload: source.subarray(offset + frameHeaderBytes, end),
  };
}

/** The bytes of the frame in the file. */
export function frameBytes(frame: Frame): number {
  return frameHeaderBytes + frame.payload.length;
}

/** Where the next frame may begin, searching from `offset`; -1 when nothing looks like one. */
function findFrame(source: Buffer, offset: number): number {
  return source.indexOf(magicBytes, offset);
}

// Scan: the frames of a file in bounded windows, over bytes that cannot be read.

const windowBytes = 256 * 1024;

/** Bytes of a file that hold no readable frame. */
export interface FrameDamage {
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
  readonly damage: FrameDamage | undefined;
}

/**
 * The frames between two file offsets, in batches of some hundred kilobytes. A bad frame ends a
 * batch; the next one begins at the next readable frame. Bytes at the end that hold no frame are
 * reported by a last batch without frames. A bad frame behind `synced` ends the scan: of what no sync
 * made durable, a power cut leaves any part, which is no damage.
 */
export async function* scanFrames(
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

/** The same sentence whether a start or a reader finds the damage, so that it is reported once. */
export function unreadableText({ offset, bytes }: FrameDamage): string {
  return `${bytes} bytes from ${offset} on cannot be read`;
}
