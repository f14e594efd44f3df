// Metric value: every data type of Sparkplug B as JSON, and what is noted of values that do not fit.
import { describe, expect, test } from 'vitest';
import type { Json } from '../../model/json.ts';
import { dataTypeNames, jsonValue } from './metric-value.ts';
import type { WireValue } from './sparkplug-payload.ts';

const typeOf = (name: string) => dataTypeNames.indexOf(name as (typeof dataTypeNames)[number]);
const bytesOf = (array: { buffer: ArrayBuffer }) => Buffer.from(array.buffer);
const time = Date.UTC(2026, 0, 5);
const max64 = 2n ** 64n - 1n;

describe('read', () => {
  test.each<[string, WireValue, Json]>([
    ['Int8', 251, -5],
    ['Int8', 4_294_967_291, -5],
    ['Int16', 65_531, -5],
    ['Int32', 4_294_967_291, -5],
    ['Int32', max64 - 4n, -5],
    ['Int64', max64 - 4n, -5],
    ['Int64', 5, 5],
    ['UInt8', 255, 255],
    ['UInt16', 65_535, 65_535],
    ['UInt32', 4_294_967_295, 4_294_967_295],
    ['UInt64', 2 ** 53 - 1, 2 ** 53 - 1],
    ['Float', 1.5, 1.5],
    ['Double', -0.1, -0.1],
    ['Boolean', true, true],
    ['Boolean', 1, true],
    ['Boolean', 0, false],
    ['String', 'ü', 'ü'],
    ['Text', '', ''],
    ['UUID', 'u', 'u'],
    ['DateTime', time, '2026-01-05T00:00:00.000Z'],
    ['DateTime', max64 - 999n, '1969-12-31T23:59:59.000Z'],
    ['Bytes', Buffer.from([0, 255]), 'AP8='],
    ['File', Buffer.from('a'), 'YQ=='],
    ['Int8Array', bytesOf(Int8Array.of(-1, 2)), [-1, 2]],
    ['Int16Array', bytesOf(Int16Array.of(-300, 300)), [-300, 300]],
    ['Int32Array', bytesOf(Int32Array.of(-1, 2 ** 31 - 1)), [-1, 2 ** 31 - 1]],
    ['Int64Array', bytesOf(BigInt64Array.of(-1n, 7n)), [-1, 7]],
    ['UInt8Array', bytesOf(Uint8Array.of(0, 255)), [0, 255]],
    ['UInt16Array', bytesOf(Uint16Array.of(65_535)), [65_535]],
    ['UInt32Array', bytesOf(Uint32Array.of(2 ** 32 - 1)), [2 ** 32 - 1]],
    ['UInt64Array', bytesOf(BigUint64Array.of(9n)), [9]],
    ['FloatArray', bytesOf(Float32Array.of(0.5)), [0.5]],
    ['DoubleArray', bytesOf(Float64Array.of(0.1, -1)), [0.1, -1]],
    [
      'BooleanArray',
      Buffer.from([10, 0, 0, 0, 0b10100000, 0b01000000]),
      [true, false, true, false, false, false, false, false, false, true],
    ],
    ['StringArray', Buffer.from('a\0\0b\0'), ['a', '', 'b']],
    ['StringArray', Buffer.alloc(0), []],
    ['DateTimeArray', bytesOf(BigInt64Array.of(BigInt(time))), ['2026-01-05T00:00:00.000Z']],
    [
      'DataSet',
      {
        columns: ['a', 'b'],
        types: [3, 12],
        rows: [{ cells: [4_294_967_291, 'x'] }, { cells: [undefined, 'y'] }],
      },
      {
        columns: ['a', 'b'],
        rows: [
          [-5, 'x'],
          [null, 'y'],
        ],
      },
    ],
    [
      'DataSet',
      { columns: [], types: [10], rows: [{ cells: [2] }] },
      { columns: ['column 1'], rows: [[2]] },
    ],
  ])('%s from %o', (name, value, expected) => {
    const faults: string[] = [];
    expect(jsonValue(value, typeOf(name), (fault) => faults.push(fault))).toEqual(expected);
    expect(faults).toEqual([]);
  });
});

describe('noted', () => {
  test.each<[string, WireValue, Json, RegExp]>([
    ['UInt64', max64, '18446744073709551615', /stored as a string/],
    ['Int64', 2n ** 63n, '-9223372036854775808', /stored as a string/],
    ['Double', Number.NaN, null, /NaN is not a finite number/],
    ['Float', Number.POSITIVE_INFINITY, null, /Infinity/],
    ['FloatArray', bytesOf(Float32Array.of(Number.NaN, 1)), [null, 1], /NaN/],
    ['DateTime', max64 >> 1n, null, /out of range/],
    ['Int32', 'text', null, /does not match its data type Int32/],
    ['Int32', 1.5, null, /does not match its data type/],
    ['Boolean', 2, null, /does not match its data type Boolean/],
    ['String', 1, null, /does not match its data type String/],
    ['Bytes', 'text', null, /does not match its data type Bytes/],
    ['Int32Array', Buffer.alloc(5), null, /do not match the array data/],
    ['BooleanArray', Buffer.from([255, 255, 255, 255]), null, /do not match the array data/],
    ['StringArray', Buffer.from('a'), null, /do not match the array data/],
    ['Unknown', 1, null, /does not match its data type Unknown/],
    [
      'DataSet',
      { columns: ['a'], types: [3], rows: [{ cells: [1, 2] }] },
      { columns: ['a'], rows: [[1]] },
      /more cells than columns/,
    ],
  ])('%s from %o', (name, value, expected, reason) => {
    const faults: string[] = [];
    expect(jsonValue(value, typeOf(name), (fault) => faults.push(fault))).toEqual(expected);
    expect(faults.join()).toMatch(reason);
  });
});
