// Device numbers: each device of the runs has a number, given when its first row is stored and kept in a file of its own.
import { closeSync, fdatasyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { DamagedChunk } from '../chunks/chunk.ts';

/** Bytes before the ids of a batch: their length, their number, and the checksum of both and of the ids. */
const headBytes = 12;

export interface DeviceNumbers {
  readonly count: () => number;
  /** Undefined for a device without a number. */
  readonly numberOf: (deviceId: string) => number | undefined;
  /** Gives the device the next number when it has none. */
  readonly assign: (deviceId: string) => number;
  readonly idOf: (number: number) => string | undefined;
  /** The device's number stays with its rows; the device gets another with its next row. */
  readonly retire: (deviceId: string) => number | undefined;
  /** Writes the numbers that are not on the disk. To be called before a run with rows of these devices counts. */
  readonly save: () => void;
}

/**
 * Reads the first `count` numbers of the file; later ones belong to runs that never counted. Throws DamagedChunk when some of the first
 * `count` cannot be read.
 */
export function openDeviceNumbers(path: string, count: number): DeviceNumbers {
  const ids = readIds(path, count);
  const numbers = new Map(ids.map((id, number) => [id, number]));
  let saved = 0;

  return {
    count: () => ids.length,
    numberOf: (deviceId) => numbers.get(deviceId),
    idOf: (number) => ids[number],
    assign: (deviceId) => {
      let number = numbers.get(deviceId);
      if (number === undefined) {
        number = ids.push(deviceId) - 1;
        numbers.set(deviceId, number);
      }
      return number;
    },
    retire: (deviceId) => {
      const number = numbers.get(deviceId);
      numbers.delete(deviceId);
      return number;
    },
    save: () => {
      if (saved === ids.length) return;
      // The first time the file is replaced, because it may have numbers behind `count`.
      if (saved === 0) {
        const beside = join(dirname(path), `.${basename(path)}.new`);
        writeSynced(beside, 'w', encodeIds(ids));
        renameSync(beside, path);
      } else writeSynced(path, 'a', encodeIds(ids.slice(saved)));
      saved = ids.length;
    },
  };
}

function writeSynced(path: string, flag: 'w' | 'a', bytes: Buffer): void {
  const fd = openSync(path, flag);
  try {
    for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function encodeIds(ids: readonly string[]): Buffer {
  const text = Buffer.from(JSON.stringify(ids));
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(ids.length, 4);
  head.writeUInt32LE(crc32(text, crc32(head.subarray(0, 8))), 8);
  return Buffer.concat([head, text]);
}

function readIds(path: string, count: number): string[] {
  if (count === 0) return [];
  const bytes = readFileSync(path);
  const ids: string[] = [];
  for (let at = 0; ids.length < count; ) {
    if (at + headBytes > bytes.length) throw new DamagedChunk(`${path} ends early`);
    const length = bytes.readUInt32LE(at);
    const text = bytes.subarray(at + headBytes, at + headBytes + length);
    if (crc32(text, crc32(bytes.subarray(at, at + 8))) !== bytes.readUInt32LE(at + 8))
      throw new DamagedChunk(`${path} is damaged at ${at}`);
    ids.push(...(JSON.parse(text.toString()) as string[]));
    at += headBytes + length;
  }
  return ids.slice(0, count);
}
