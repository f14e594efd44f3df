// Map files of tests: writes a PMTiles file with a root directory alone, or with directories below it.
import { gzipSync } from 'node:zlib';
import type { TileName } from '../../model/map-tiles.ts';
import { tileIdOf } from './map-files.ts';

interface Entry {
  readonly id: number;
  readonly run: number;
  readonly length: number;
  readonly offset: number;
}

export interface TestMap {
  readonly tiles: readonly { readonly name: TileName; readonly bytes: Buffer }[];
  /** 1 vector, 2 PNG. */
  readonly type?: number;
  readonly metadata?: object;
  /** Entries of one directory below the root; without it, all are in the root. */
  readonly leafEntries?: number;
  /** Of directories, metadata and tiles. */
  readonly isGzipped?: boolean;
}

/** Equal tiles with consecutive numbers share their bytes and an entry, as in files of others. */
export function pmtilesOf(map: TestMap): Buffer {
  const { type = 2, metadata = {}, leafEntries, isGzipped = false } = map;
  const packed = (bytes: Buffer) => (isGzipped ? gzipSync(bytes) : bytes);
  const entries: Entry[] = [];
  const data: Buffer[] = [];
  let end = 0;
  let last = Buffer.alloc(0);
  const sorted = map.tiles
    .map(({ name, bytes }) => ({ id: tileIdOf(name), bytes }))
    .toSorted((a, b) => a.id - b.id);
  for (const { id, bytes } of sorted) {
    const before = entries.at(-1);
    if (before !== undefined && before.id + before.run === id && last.equals(bytes)) {
      entries[entries.length - 1] = { ...before, run: before.run + 1 };
      continue;
    }
    const stored = packed(bytes);
    entries.push({ id, run: 1, length: stored.length, offset: end });
    data.push(stored);
    end += stored.length;
    last = Buffer.from(bytes);
  }
  const leaves: Buffer[] = [];
  let root = entries;
  if (leafEntries !== undefined) {
    root = [];
    let offset = 0;
    for (let at = 0; at < entries.length; at += leafEntries) {
      const leaf = packed(directory(entries.slice(at, at + leafEntries)));
      root.push({ id: entries[at]?.id ?? 0, run: 0, length: leaf.length, offset });
      leaves.push(leaf);
      offset += leaf.length;
    }
  }
  const sections = [
    packed(directory(root)),
    packed(Buffer.from(JSON.stringify(metadata))),
    Buffer.concat(leaves),
    Buffer.concat(data),
  ];
  const header = Buffer.alloc(127);
  header.write('PMTiles', 'latin1');
  header[7] = 3;
  let offset = header.length;
  for (const [at, section] of sections.entries()) {
    header.writeBigUInt64LE(BigInt(offset), 8 + at * 16);
    header.writeBigUInt64LE(BigInt(section.length), 16 + at * 16);
    offset += section.length;
  }
  const compression = isGzipped ? 2 : 1;
  const zooms = map.tiles.map(({ name: { z } }) => z);
  header.set([1, compression, compression, type, Math.min(...zooms), Math.max(...zooms)], 96);
  return Buffer.concat([header, ...sections]);
}

function directory(entries: readonly Entry[]): Buffer {
  const numbers = [entries.length];
  let before = 0;
  for (const { id } of entries) {
    numbers.push(id - before);
    before = id;
  }
  for (const { run } of entries) numbers.push(run);
  for (const { length } of entries) numbers.push(length);
  let end = 0;
  for (const [at, { offset, length }] of entries.entries()) {
    numbers.push(at > 0 && offset === end ? 0 : offset + 1);
    end = offset + length;
  }
  return Buffer.from(numbers.flatMap(varint));
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return bytes;
}
