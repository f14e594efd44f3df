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
