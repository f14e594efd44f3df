// Device numbers: each device of the runs has one, stored in two copies of a file.
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncDirectory } from '../../../log/durable-file.ts';
import { DamagedChunk } from '../chunks/chunk.ts';
import { IdTable } from '../../../../structures/hash-tables.ts';

/** Bytes before the records of a batch: their length, and the checksum of the length and of the records. */
const headBytes = 8;

/** A string is a device with the next number; a number is one whose device was deleted. */
type NumberRecord = string | number;

export interface DeviceNumbers {
  readonly count: () => number;
  /** Undefined for a device without a number, or whose number is retired. */
  readonly numberOf: (deviceId: string) => number | undefined;
  /** Gives the device the next number when it has none. */
  readonly assign: (deviceId: string) => number;
  readonly idOf: (number: number) => string | undefined;
  /** Takes the number from the device, whose rows count no more; with its next row the device gets another. */
  readonly retire: (deviceId: string) => number | undefined;
  readonly retired: ReadonlySet<number>;
  /** Makes durable what is known now. To be awaited before a run counts that has rows of new devices. */
  readonly save: () => Promise<void>;
}

interface DeviceNumbersOptions {
  /** The two copies. */
  readonly paths: readonly [string, string];
  /** Runs have rows of this many devices: fewer numbers in a copy are damage. */
  readonly needed: number;
  /** Called for each copy that is damaged or missing; it is written again with the next save. */
  readonly damaged: (path: string, reason: string) => void;
}

/** Throws DamagedChunk when neither copy has the numbers that are needed. */
export function openDeviceNumbers(options: DeviceNumbersOptions): DeviceNumbers {
  const records = readCopies(options);
  const ids: string[] = [];
  const numbers = new IdTable();
  const retired = new Set<number>();
  // Both copies are replaced by the first save, which cuts off what a crash left behind their last batch.
  let saved = -1;
  let saving: Promise<unknown> = Promise.resolve();

  function apply(record: NumberRecord): void {
    if (typeof record === 'string') numbers.set(record, ids.push(record) - 1);
    else {
      retired.add(record);
      const id = ids[record];
      if (id !== undefined && numbers.get(id) === record) numbers.remove(id);
    }
  }

  function note(record: NumberRecord): void {
    records.push(record);
    apply(record);
  }

  for (const record of records) apply(record);
  return {
    retired,
    count: () => ids.length,
    numberOf: (deviceId) => numbers.get(deviceId),
    idOf: (number) => ids[number],
    assign: (deviceId) => {
      const known = numbers.get(deviceId);
      if (known !== undefined) return known;
      note(deviceId);
      return ids.length - 1;
    },
    retire: (deviceId) => {
      const number = numbers.get(deviceId);
      if (number !== undefined) note(number);
      return number;
    },
    save: () => {
      const done = saving.then(saveNow);
      saving = done.catch(() => undefined);
      return done;
    },
  };

  async function saveNow(): Promise<void> {
    const { length } = records;
    if (saved === length) return;
    const isFirst = saved < 0;
    const batch = encodeBatch(isFirst ? records : records.slice(saved));
    // A batch that was cut off would hide those behind it, so a failure is followed by a replacement.
    saved = -1;
    for (const path of options.paths) {
      if (isFirst) await replaceFile(path, batch);
      else await writeSynced(path, 'a', batch);
    }
    saved = length;
  }
}

/**
 * The records of the copy that has most; a copy that lacks devices of the runs is reported. One that
 * lacks others is what a crash in the middle of saving leaves.
 */
function readCopies({ paths, needed, damaged }: DeviceNumbersOptions): NumberRecord[] {
  const copies = paths.map(readRecords);
  const best = copies.reduce((most, copy) =>
    copy.records.length > most.records.length ? copy : most,
  );
  const devices = devicesIn(best.records);
  if (devices < needed)
    throw new DamagedChunk(
      `${paths.join(' and ')} have ${devices} of ${needed} devices: restore one of the files from a backup`,
    );
  for (const [i, { records, reason }] of copies.entries())
    if (devicesIn(records) < needed)
      damaged(paths[i]!, reason ?? 'It has fewer devices than its copy');
  return best.records;
}

function devicesIn(records: readonly NumberRecord[]): number {
  return records.filter((record) => typeof record === 'string').length;
}

/** The records up to the first batch that cannot be read, and why that is. */
function readRecords(path: string): { records: NumberRecord[]; reason?: string } {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { records: [], reason: 'The file is missing' };
  }
  const records: NumberRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const reason = `It cannot be read from byte ${at} on`;
    if (at + headBytes > bytes.length) return { records, reason };
    const length = bytes.readUInt32LE(at);
    const text = bytes.subarray(at + headBytes, at + headBytes + length);
    const sum = crc32(text, crc32(bytes.subarray(at, at + 4)));
    if (sum !== bytes.readUInt32LE(at + 4)) return { records, reason };
    // One by one: as arguments of one call, 200,000 records exceed the stack.
    for (const record of JSON.parse(text.toString()) as NumberRecord[]) records.push(record);
    at += headBytes + length;
  }
  return { records };
}

function encodeBatch(records: readonly NumberRecord[]): Buffer {
  const text = Buffer.from(JSON.stringify(records));
  const head = Buffer.alloc(headBytes);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(crc32(text, crc32(head.subarray(0, 4))), 4);
  return Buffer.concat([head, text]);
}

async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  const unfinished = join(dirname(path), `.${basename(path)}.new`);
  await writeSynced(unfinished, 'w', bytes);
  await rename(unfinished, path);
  await syncDirectory(dirname(path));
}

async function writeSynced(path: string, flag: 'w' | 'a', bytes: Buffer): Promise<void> {
  const file = await open(path, flag);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } finally {
    await file.close();
  }
}
