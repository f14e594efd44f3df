// Command payload: the metrics of a command as Sparkplug B, with the data types of the birth.
import { type EpochMs, parseInstant } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Birth, BornMetric } from './birth.ts';
import {
  dataTypeNames,
  dataTypes,
  floatTypes,
  type IntegerType,
  integerTypes,
  itemTypeOf,
} from './metric-value.ts';
import { tagOf, type wireTypes } from './sparkplug-payload.ts';

/** The payload, or why the device cannot take it. */
type CommandPayload = { readonly bytes: Buffer } | { readonly refused: string };

/** The payload of `{metric: value}`. Names are those of the birth, or the data keys of its metrics. */
export function commandPayload(command: JsonObject, birth: Birth, now: EpochMs): CommandPayload {
  const payload: Parts = [];
  writeVarintField(payload, 1, now);
  let byKey: ReadonlyMap<string | undefined, BornMetric> | undefined;
  for (const [name, value] of Object.entries(command)) {
    byKey ??= new Map(Array.from(birth.byName.values(), (born) => [born.key, born]));
    const born = birth.byName.get(name) ?? byKey.get(name);
    if (born === undefined)
      return { refused: `unknown metric ${JSON.stringify(name)} (not in the birth)` };
    const metric: Parts = [];
    if (born.alias === undefined) writeBytesField(metric, 1, Buffer.from(born.name));
    else writeVarintField(metric, 2, born.alias);
    writeVarintField(metric, 3, now);
    writeVarintField(metric, 4, born.dataType);
    if (value === null) writeVarintField(metric, 7, 1);
    else if (!writeValue(metric, born.dataType, value)) return { refused: refusalOf(born, value) };
    writeBytesField(payload, 2, Buffer.concat(metric));
  }
  return { bytes: Buffer.concat(payload) };
}

/** Asks an edge node for its births. */
export function rebirthPayload(now: EpochMs): Buffer {
  const metric: Parts = [];
  writeBytesField(metric, 1, Buffer.from('Node Control/Rebirth'));
  writeVarintField(metric, 3, now);
  writeVarintField(metric, 4, dataTypes.boolean);
  writeVarintField(metric, 14, 1);
  const payload: Parts = [];
  writeVarintField(payload, 1, now);
  writeBytesField(payload, 2, Buffer.concat(metric));
  return Buffer.concat(payload);
}

const shownLengthMax = 100;

function refusalOf({ name, dataType }: BornMetric, value: Json): string {
  const shown = JSON.stringify(value).slice(0, shownLengthMax);
  const type = dataTypeNames[dataType] ?? dataType;
  return `the metric ${JSON.stringify(name)} is of type ${type}, which cannot be ${shown}`;
}

/** False for a value that the type does not have. */
function writeValue(metric: Parts, dataType: number, value: Json): boolean {
  const itemType = itemTypeOf(dataType);
  const bytes = itemType === undefined ? bytesOf(dataType, value) : arrayBytes(itemType, value);
  if (bytes !== undefined) {
    writeBytesField(metric, 16, bytes);
    return true;
  }
  const integer = integerTypes.get(dataType);
  const word = integer === undefined ? timeOf(dataType, value) : wordOf(value, integer);
  if (word !== undefined) {
    const isLong = integer === undefined || integer.bits === 64;
    writeVarintField(metric, isLong ? 11 : 10, word);
    return true;
  }
  const floatBits = floatTypes.get(dataType);
  if (floatBits !== undefined && typeof value === 'number') {
    writeFloatField(metric, floatBits === 32 ? 12 : 13, value, floatBits);
    return true;
  }
  if (dataType === dataTypes.boolean && typeof value === 'boolean') {
    writeVarintField(metric, 14, Number(value));
    return true;
  }
  if (!textTypes.has(dataType) || typeof value !== 'string') return false;
  writeBytesField(metric, 15, Buffer.from(value));
  return true;
}

const textTypes: ReadonlySet<number> = new Set([dataTypes.string, dataTypes.text, dataTypes.uuid]);

/** An integer as that many bits without a sign; undefined when it is out of range. */
function wordOf(value: Json, { bits, isSigned }: IntegerType): bigint | undefined {
  const whole = wholeOf(value);
  if (whole === undefined) return undefined;
  const fits = isSigned ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole);
  if (fits !== whole) return undefined;
  // Negative numbers of fewer bits are written as those of 32.
  return BigInt.asUintN(Math.max(bits, 32), whole);
}

/** Of a number, or of a string as large integers are stored. */
function wholeOf(value: Json): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value);
  return undefined;
}

function timeOf(dataType: number, value: Json): number | undefined {
  if (dataType !== dataTypes.dateTime) return undefined;
  const at = typeof value === 'string' ? parseInstant(value) : value;
  return typeof at === 'number' && Number.isSafeInteger(at) && at >= 0 ? at : undefined;
}

function bytesOf(dataType: number, value: Json): Buffer | undefined {
  if (dataType !== dataTypes.bytes && dataType !== dataTypes.file) return undefined;
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) return undefined;
  return Buffer.from(value, 'base64');
}

function arrayBytes(itemType: number, value: Json): Buffer | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value as readonly Json[];
  if (itemType === dataTypes.boolean) return flagBytes(items);
  const parts = items.map((item) => itemBytes(itemType, item));
  return parts.every((part) => part !== undefined) ? Buffer.concat(parts) : undefined;
}

function itemBytes(itemType: number, item: Json): Buffer | undefined {
  if (itemType === dataTypes.string)
    return typeof item === 'string' && !item.includes('\0') ? Buffer.from(`${item}\0`) : undefined;
  const floatBits = floatTypes.get(itemType);
  if (floatBits !== undefined) {
    if (typeof item !== 'number') return undefined;
    const array = floatBits === 32 ? Float32Array.of(item) : Float64Array.of(item);
    return Buffer.from(array.buffer);
  }
  const integer = integerTypes.get(itemType);
  const word = integer === undefined ? timeOf(itemType, item) : wordOf(item, integer);
  if (word === undefined) return undefined;
  const whole = Buffer.alloc(8);
  whole.writeBigUInt64LE(BigInt(word));
  return whole.subarray(0, (integer?.bits ?? 64) / 8);
}

/** A count, then a bit for each, the highest bit of a byte first. */
function flagBytes(items: readonly Json[]): Buffer | undefined {
  const bytes = Buffer.alloc(4 + Math.ceil(items.length / 8));
  bytes.writeUInt32LE(items.length);
  for (const [i, item] of items.entries()) {
    if (typeof item !== 'boolean') return undefined;
    const at = 4 + (i >> 3);
    if (item) bytes[at] = (bytes[at] ?? 0) | (0x80 >> (i & 7));
  }
  return bytes;
}

// Protobuf writer: fields of messages as bytes.

/** The bytes of a message so far, in parts. */
type Parts = Buffer[];

function writeVarintField(parts: Parts, field: number, value: number | bigint): void {
  parts.push(varint(tagOf(field, 'varint')), varint(value));
}

function writeBytesField(parts: Parts, field: number, bytes: Buffer): void {
  parts.push(varint(tagOf(field, 'bytes')), varint(bytes.length), bytes);
}

function writeFloatField(parts: Parts, field: number, value: number, bits: 32 | 64): void {
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
