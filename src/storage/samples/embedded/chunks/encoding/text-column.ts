// A column of texts: each different text once, compressed where it pays, and for each row which one.
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { ByteReader, ByteWriter } from '../../../../../structures/bytes.ts';
import { readInts, writeInts } from './int-column.ts';

/** Compressing costs some 50 microseconds whatever the length, so short texts stay as they are. */
const compressFromBytes = 512;

interface Texts {
  readonly texts: readonly string[];
  readonly ids: Float64Array;
}

/** Writes the texts that rows use, `ids` holding for each row the index of its text. */
export function writeTexts(writer: ByteWriter, texts: readonly string[], ids: Float64Array): void {
  writeText(writer, JSON.stringify(texts));
  writeInts(writer, ids, ids.length);
}

export function readTexts(reader: ByteReader, length: number): Texts {
  const texts = JSON.parse(readText(reader)) as string[];
  return { texts, ids: readInts(reader, length) };
}

/** JSON keeps what UTF-8 alone would lose: surrogates without their half. */
function writeText(writer: ByteWriter, json: string): void {
  const plain = Buffer.from(json);
  const compressed = plain.length < compressFromBytes ? plain : zstdCompressSync(plain);
  const pays = compressed.length < plain.length * 0.9;
  const bytes = pays ? compressed : plain;
  writer.varint(bytes.length * 2 + (pays ? 1 : 0));
  writer.bytes(bytes);
}

function readText(reader: ByteReader): string {
  const head = reader.varint();
  const bytes = reader.bytes(Math.floor(head / 2));
  return (head % 2 === 1 ? zstdDecompressSync(bytes) : Buffer.from(bytes)).toString('utf8');
}
