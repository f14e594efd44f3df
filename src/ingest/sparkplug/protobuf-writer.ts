// Protobuf writer: fields of messages as bytes.
import { tagOf, type wireTypes } from './protobuf-reader.ts';

/** The bytes of a message so far, in parts. */
export type Parts = Buffer[];

export function writeVarintField(parts: Parts, field: number, value: number | bigint): void {
  parts.push(varint(tagOf(field, 'varint')), varint(value));
}

export function writeBytesField(parts: Parts, field: number, bytes: Buffer): void {
  parts.push(varint(tagOf(field, 'bytes')), varint(bytes.length), bytes);
}

export function writeFloatField(parts: Parts, field: number, value: number, bits: 32 | 64): void {
  const wireType: keyof typeof wireTypes = bits === 32 ? 'fixed32' : 'fixed64';
  const bytes = Buffer.alloc(bits / 8);
  if (bits === 32) bytes.writeFloatLE(value);
  else bytes.writeDoubleLE(value);
  parts.push(varint(tagOf(field, wireType)), bytes);
}

/** Of an unsigned number. */
function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(value);
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  return Buffer.from([...bytes, Number(rest)]);
}
