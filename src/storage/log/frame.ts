// A journal frame: one record with its place, time and checksum, found again even behind damage.
// Layout, little endian: magic u32, CRC32 u32 (of everything behind it), payload bytes u32,
// position u32 + u16, type u16, time f64, payload.
import { crc32 } from 'node:zlib';
import type { EpochMs } from '../../model/instant.ts';

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
  frame: Omit<Frame, 'payload'>,
  payload: Uint8Array,
): number {
  const end = offset + frameHeaderBytes + payload.length;
  target.set(payload, offset + frameHeaderBytes);
  sealFrame(target.subarray(0, end), offset, frame);
  return end;
}

/** Completes the frame at `offset`, whose payload is there already and ends with the bytes. */
export function sealFrame(target: Buffer, offset: number, frame: Omit<Frame, 'payload'>): void {
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
export function findFrame(source: Buffer, offset: number): number {
  return source.indexOf(magicBytes, offset);
}
