// Metric value: a value of Sparkplug B as JSON, by its data type. What JSON cannot hold is noted.
import { formatInstant, isInstant } from '../../model/instant.ts';
import { isEpochMs, timestampFault } from '../../model/timestamp.ts';
import type { Json } from '../../model/json.ts';
import type { DataSet, WireValue } from './sparkplug-payload.ts';

// Data types of Sparkplug B: how a value of each is read from its field, and written into one.

/** Names as the specification writes them, by number. */
export const dataTypeNames = [
  'Unknown',
  'Int8',
  'Int16',
  'Int32',
  'Int64',
  'UInt8',
  'UInt16',
  'UInt32',
  'UInt64',
  'Float',
  'Double',
  'Boolean',
  'String',
  'DateTime',
  'Text',
  'UUID',
  'DataSet',
  'Bytes',
  'File',
  'Template',
  'PropertySet',
  'PropertySetList',
  'Int8Array',
  'Int16Array',
  'Int32Array',
  'Int64Array',
  'UInt8Array',
  'UInt16Array',
  'UInt32Array',
  'UInt64Array',
  'FloatArray',
  'DoubleArray',
  'BooleanArray',
  'StringArray',
  'DateTimeArray',
] as const;

export const dataTypes = {
  unknown: 0,
  boolean: 11,
  string: 12,
  dateTime: 13,
  text: 14,
  uuid: 15,
  dataSet: 16,
  bytes: 17,
  file: 18,
  template: 19,
  booleanArray: 32,
  stringArray: 33,
} as const;

export interface IntegerType {
  readonly bits: 8 | 16 | 32 | 64;
  readonly isSigned: boolean;
}

/** By data type. */
export const integerTypes: ReadonlyMap<number, IntegerType> = new Map(
  ([8, 16, 32, 64] as const).flatMap((bits, i): [number, IntegerType][] => [
    [1 + i, { bits, isSigned: true }],
    [5 + i, { bits, isSigned: false }],
  ]),
);

/** Data types of numbers with a fraction, and their bits. */
export const floatTypes: ReadonlyMap<number, 32 | 64> = new Map([
  [9, 32],
  [10, 64],
]);

/** The data type of the items of an array; undefined for other types. */
export function itemTypeOf(arrayType: number): number | undefined {
  return itemTypes.get(arrayType);
}

const itemTypes: ReadonlyMap<number, number> = new Map([
  // Integers and numbers have the order of their items.
  ...Array.from({ length: 10 }, (_, i): [number, number] => [22 + i, 1 + i]),
  [32, 11],
  [33, 12],
  [34, 13],
]);

/** Null for a value that does not fit its data type, which is noted. */
export function jsonValue(value: WireValue | undefined, dataType: number, fault: NoteFault): Json {
  if (value === undefined) return null;
  const found = valueOf(value, dataType, fault);
  if (found !== undefined) return found;
  fault(`the value does not match its data type ${dataTypeNames[dataType] ?? dataType}`);
  return null;
}

/** Undefined for a value of another type. */
function valueOf(value: WireValue, dataType: number, fault: NoteFault): Json | undefined {
  const integer = integerTypes.get(dataType);
  if (integer !== undefined)
    return isInteger(value) ? integerValue(value, integer, fault) : undefined;
  if (floatTypes.has(dataType))
    return typeof value === 'number' ? finiteValue(value, fault) : undefined;
  const itemType = itemTypeOf(dataType);
  if (itemType !== undefined)
    return Buffer.isBuffer(value) ? arrayValue(value, itemType, fault) : undefined;
  return readers.get(dataType)?.(value, fault);
}

type ReadValue = (value: WireValue, fault: NoteFault) => Json | undefined;

const readers: ReadonlyMap<number, ReadValue> = new Map<number, ReadValue>([
  [dataTypes.boolean, flagValue],
  [dataTypes.string, textValue],
  [dataTypes.text, textValue],
  [dataTypes.uuid, textValue],
  [dataTypes.dateTime, (value, fault) => (isInteger(value) ? timeValue(value, fault) : undefined)],
  [dataTypes.bytes, bytesValue],
  [dataTypes.file, bytesValue],
  [dataTypes.dataSet, (value, fault) => (isDataSet(value) ? tableValue(value, fault) : undefined)],
]);

function textValue(value: WireValue): Json | undefined {
  return typeof value === 'string' ? value : undefined;
}

function bytesValue(value: WireValue): Json | undefined {
  return Buffer.isBuffer(value) ? value.toString('base64') : undefined;
}

/** Some senders write 0 and 1 as integers. */
function flagValue(value: WireValue): Json | undefined {
  if (typeof value === 'boolean') return value;
  return value === 0 || value === 1 ? value === 1 : undefined;
}

function isInteger(value: WireValue): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

function isDataSet(value: WireValue): value is DataSet {
  return typeof value === 'object' && 'rows' in value;
}

/** Columns without a name get their number. Cells without a column are not stored, which is noted. */
function tableValue({ columns, types, rows }: DataSet, fault: NoteFault): Json {
  const width = Math.max(columns.length, types.length);
  if (rows.some(({ cells }) => cells.length > width))
    fault('a data set row has more cells than columns');
  const names = Array.from({ length: width }, (_, i) => columns[i] ?? `column ${i + 1}`);
  const table = rows.map(({ cells }) =>
    names.map((_, i) => jsonValue(cells[i], types[i] ?? 0, fault)),
  );
  return { columns: names, rows: table };
}

// Array value: the items of an array of Sparkplug B, which its bytes hold one behind the other.

/** `itemType` is the data type of the items. Null for bytes that are not such an array. */
function arrayValue(bytes: Buffer, itemType: number, fault: NoteFault): Json {
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

// Scalar values of Sparkplug B as JSON: integers of all sizes, numbers and times.

/** Called for a value that is stored in another form, or as null. */
type NoteFault = (fault: string) => void;

/** Negative integers come as those of 32 or 64 bits without a sign. */
function integerValue(
  value: number | bigint,
  { bits, isSigned }: IntegerType,
  fault: NoteFault,
): Json {
  if (typeof value === 'number') {
    if (bits === 64) return value;
    const shift = 32 - bits;
    return isSigned ? (value << shift) >> shift : (value << shift) >>> shift;
  }
  return exact(isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value), fault);
}

/** A string where a number would not be exact. */
function exact(whole: bigint, fault: NoteFault): Json {
  const number = Number(whole);
  if (Number.isSafeInteger(number)) return number;
  fault('the integer exceeds the safe range and was stored as a string');
  return String(whole);
}

function finiteValue(value: number, fault: NoteFault): Json {
  if (Number.isFinite(value)) return value;
  fault(`${value} is not a finite number and was stored as null`);
  return null;
}

function timeValue(value: number | bigint, fault: NoteFault): Json {
  const at = numberOf(value);
  if (isInstant(at)) return formatInstant(at);
  fault(`time ${value} is out of range and was stored as null`);
  return null;
}

/** The time of a message or a metric; undefined for what is no time in milliseconds (contract 42). */
export function sentTimeOf(value: number | bigint | undefined): number | undefined {
  if (value === undefined) return undefined;
  const at = numberOf(value);
  return isEpochMs(at) ? at : undefined;
}

/** Why `sentTimeOf` took nothing of a value. */
export function sentTimeFault(value: number | bigint): string {
  return `its time ${value} ${timestampFault(numberOf(value)).reason}`;
}

/** Times before 1970 come as 64 bits without a sign. */
function numberOf(value: number | bigint): number {
  return typeof value === 'number' ? value : Number(BigInt.asIntN(64, value));
}
