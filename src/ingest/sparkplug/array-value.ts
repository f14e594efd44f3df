// Array value: the items of an array of Sparkplug B, which its bytes hold one behind the other.
import type { Json } from '../../model/json.ts';
import { dataTypes, floatTypes, type IntegerType, integerTypes } from './data-types.ts';
import { finiteValue, integerValue, type NoteFault, timeValue } from './scalar-value.ts';

/** `itemType` is the data type of the items. Null for bytes that are not such an array. */
export function arrayValue(bytes: Buffer, itemType: number, fault: NoteFault): Json {
  const items = itemsOf(bytes, itemType, fault);
  if (items !== undefined) return items;
  fault('the bytes do not match the array data type');
  return null;
}

function itemsOf(bytes: Buffer, itemType: number, fault: NoteFault): Json[] | undefined {
  if (itemType === dataTypes.boolean) return flagsOf(bytes);
  if (itemType === dataTypes.string) return stringsOf(bytes);
  if (itemType === dataTypes.dateTime)
    return eachOf(bytes, 64, (at) => timeValue(bytes.readBigUInt64LE(at), fault));
  const floatBits = floatTypes.get(itemType);
  if (floatBits !== undefined) {
    const read = (at: number) =>
      floatBits === 32 ? bytes.readFloatLE(at) : bytes.readDoubleLE(at);
    return eachOf(bytes, floatBits, (at) => finiteValue(read(at), fault));
  }
  const integer = integerTypes.get(itemType);
  if (integer === undefined) return undefined;
  return eachOf(bytes, integer.bits, (at) =>
    integerValue(wordAt(bytes, at, integer), integer, fault),
  );
}

function wordAt(bytes: Buffer, at: number, { bits }: IntegerType): number | bigint {
  return bits === 64 ? bytes.readBigUInt64LE(at) : bytes.readUIntLE(at, bits / 8);
}

/** Undefined when the last item is not whole. */
function eachOf(bytes: Buffer, bits: number, read: (at: number) => Json): Json[] | undefined {
  const size = bits / 8;
  if (bytes.length % size !== 0) return undefined;
  return Array.from({ length: bytes.length / size }, (_, i) => read(i * size));
}

/** A count, then a bit for each, the highest bit of a byte first. */
function flagsOf(bytes: Buffer): Json[] | undefined {
  if (bytes.length < 4) return undefined;
  const count = bytes.readUInt32LE(0);
  if (count > (bytes.length - 4) * 8) return undefined;
  return Array.from(
    { length: count },
    (_, i) => (((bytes[4 + (i >> 3)] ?? 0) >> (7 - (i & 7))) & 1) === 1,
  );
}

/** Each ends with a NUL. */
function stringsOf(bytes: Buffer): Json[] | undefined {
  if (bytes.length === 0) return [];
  if (bytes.at(-1) !== 0) return undefined;
  return bytes.toString('utf8', 0, bytes.length - 1).split('\0');
}
