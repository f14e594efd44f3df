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

/** The numbers of devices, in memory and in the two copies of their file. */
export class DeviceNumbers {
  readonly retired = new Set<number>();
  readonly #paths: readonly [string, string];
  readonly #records: NumberRecord[];
  readonly #ids: string[] = [];
  readonly #numbers = new IdTable();
  // Both copies are replaced by the first save, which cuts off what a crash left behind their last batch.
  #saved = -1;
  #saving: Promise<unknown> = Promise.resolve();

  /**
   * Runs have rows of `needed` devices: fewer numbers in a copy are damage. `damaged` is called for
   * each of the two copies that is damaged or missing; it is written again with the next save.
   * Throws DamagedChunk when neither copy has the numbers that are needed.
   */
  constructor(
    paths: readonly [string, string],
    needed: number,
    damaged: (path: string, reason: string) => void,
  ) {
    this.#paths = paths;
    this.#records = readCopies(paths, needed, damaged);
    for (const record of this.#records) this.#apply(record);
  }

  count(): number {
    return this.#ids.length;
  }

  /** Undefined for a device without a number, or whose number is retired. */
  numberOf(deviceId: string): number | undefined {
    return this.#numbers.get(deviceId);
  }

  idOf(number: number): string | undefined {
    return this.#ids[number];
  }

  /** Gives the device the next number when it has none. */
  assign(deviceId: string): number {
    const known = this.#numbers.get(deviceId);
    if (known !== undefined) return known;
    this.#note(deviceId);
    return this.#ids.length - 1;
  }

  /** Takes the number from the device, whose rows count no more; with its next row the device gets another. */
  retire(deviceId: string): number | undefined {
    const number = this.#numbers.get(deviceId);
    if (number !== undefined) this.#note(number);
    return number;
  }

  /** Makes durable what is known now. To be awaited before a run counts that has rows of new devices. */
  save(): Promise<void> {
    const done = this.#saving.then(() => this.#saveNow());
    this.#saving = done.catch(() => undefined);
    return done;
  }

  async #saveNow(): Promise<void> {
    const { length } = this.#records;
    if (this.#saved === length) return;
    const isFirst = this.#saved < 0;
    const batch = encodeBatch(isFirst ? this.#records : this.#records.slice(this.#saved));
    // A batch that was cut off would hide those behind it, so a failure is followed by a replacement.
    this.#saved = -1;
    for (const path of this.#paths) {
      if (isFirst) await replaceFile(path, batch);
      else await writeSynced(path, 'a', batch);
    }
    this.#saved = length;
  }

  #apply(record: NumberRecord): void {
    if (typeof record === 'string') this.#numbers.set(record, this.#ids.push(record) - 1);
    else {
      this.retired.add(record);
      const id = this.#ids[record];
      if (id !== undefined && this.#numbers.get(id) === record) this.#numbers.remove(id);
    }
  }

  #note(record: NumberRecord): void {
    this.#records.push(record);
    this.#apply(record);
  }
}

/**
 * The records of the copy that has most; a copy that lacks devices of the runs is reported. One that
 * lacks others is what a crash in the middle of saving leaves.
 */
function readCopies(
  paths: readonly [string, string],
  needed: number,
  damaged: (path: string, reason: string) => void,
): NumberRecord[] {
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
