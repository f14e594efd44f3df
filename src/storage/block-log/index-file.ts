// Index file of a segment: a head as JSON, then tables of bytes, each under a checksum of its own.
// File: CRC32 u32 and length u32 of the head, the head, then what the log adds.
import type { FileHandle } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { replaceFile } from '../log/durable-file.ts';
import { openExisting, readBytes } from './segment-files.ts';

const prefixBytes = 8;

/** The bytes of the prefix and the head of an index. */
export function indexHead(head: object): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32LE(crc32(json), 0);
  prefix.writeUInt32LE(json.length, 4);
  return Buffer.concat([prefix, json]);
}

/** Writes an index of these parts; durable when it resolves. */
export async function writeIndexFile(path: string, parts: readonly Uint8Array[]): Promise<void> {
  await replaceFile(path, Buffer.concat(parts));
}

export class IndexFile<Head> {
  readonly #file: FileHandle;
  #found: Promise<{ readonly head: Head; readonly end: number } | undefined> | undefined;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** What `use` makes of the index; undefined when there is no file. */
  static async use<Head, T>(
    path: string,
    use: (index: IndexFile<Head>) => Promise<T>,
  ): Promise<T | undefined> {
    const file = await openExisting(path);
    if (file === undefined) return undefined;
    try {
      return await use(new IndexFile(file));
    } finally {
      await file.close();
    }
  }

  /** The head, and where the tables begin; undefined when it is not what was written. */
  head(): Promise<{ readonly head: Head; readonly end: number } | undefined> {
    this.#found ??= this.#readHead();
    return this.#found;
  }

  async #readHead(): Promise<{ readonly head: Head; readonly end: number } | undefined> {
    const prefix = await this.bytes(0, prefixBytes);
    const length = prefix?.readUInt32LE(4) ?? 0;
    if (prefix === undefined || length > (await this.#file.stat()).size) return undefined;
    const json = await this.read(prefixBytes, length, prefix.readUInt32LE(0));
    if (json === undefined) return undefined;
    return { head: JSON.parse(json.toString('utf8')) as Head, end: prefixBytes + length };
  }

  /** So many bytes at the offset of the file; undefined when it ends before. */
  bytes(offset: number, length: number): Promise<Buffer | undefined> {
    return readBytes(this.#file, offset, length);
  }

  /** The same; undefined also when they do not have the checksum. */
  async read(offset: number, length: number, checksum: number): Promise<Buffer | undefined> {
    const bytes = await this.bytes(offset, length);
    return bytes !== undefined && crc32(bytes) === checksum ? bytes : undefined;
  }
}
