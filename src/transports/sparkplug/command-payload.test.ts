// Command payload: values by the types of the birth, as the library of Eclipse Tahu reads them.
import proto from 'sparkplug-payload/lib/sparkplugPayloadProto.js';
import { expect, test } from 'vitest';
import type { Json } from '../../model/json.ts';
import { birthOf } from './birth.ts';
import { commandPayload, rebirthPayload } from './command-payload.ts';
import { dataTypeNames, jsonValue } from './metric-value.ts';
import { readPayload } from './sparkplug-payload.ts';

const { Payload } = proto.org.eclipse.tahu.protobuf;
const typeOf = (name: string) => dataTypeNames.indexOf(name as (typeof dataTypeNames)[number]);
const birth = birthOf(
  dataTypeNames.map((name, datatype) => ({
    name: `of/${name}`,
    datatype,
    ...(name === 'Double' && { alias: 5 }),
  })),
  () => expect.fail('no fault'),
);

test.each<[string, Json]>([
  ['Int8', -128],
  ['Int16', -300],
  ['Int32', -5],
  ['Int64', -5],
  ['Int64', '-9223372036854775808'],
  ['UInt8', 255],
  ['UInt16', 65_535],
  ['UInt32', 4_294_967_295],
  ['UInt64', '18446744073709551615'],
  ['Float', 0.5],
  ['Double', -1.25],
  ['Boolean', true],
  ['String', 'ü'],
  ['Text', ''],
  ['UUID', 'u'],
  ['DateTime', '2026-01-05T00:00:00.000Z'],
  ['Bytes', 'AP8='],
  ['File', 'YQ=='],
  ['Int8Array', [-1, 2]],
  ['Int64Array', [-1, 2]],
  ['UInt16Array', [65_535]],
  ['FloatArray', [0.5]],
  ['DoubleArray', [0.1]],
  ['BooleanArray', [true, false, false, false, false, false, false, false, true]],
  ['StringArray', ['a', '']],
  ['DateTimeArray', ['2026-01-05T00:00:00.000Z']],
])('%s of %j is what the device reads', (name, value) => {
  const made = commandPayload({ [`of/${name}`]: value }, birth, 1_767_571_200_000);
  if ('refused' in made) throw new Error(made.refused);
  // The library accepts it, too.
  expect(Payload.decode(made.bytes).metrics).toHaveLength(1);
  const [metric] = readPayload(made.bytes).metrics;
  expect(metric).toMatchObject(name === 'Double' ? { alias: 5 } : { name: `of/${name}` });
  expect(metric?.datatype).toBe(typeOf(name));
  expect(jsonValue(metric?.value, typeOf(name), () => undefined)).toEqual(value);
});

test('a metric is also found by its data key, and null is the value null', () => {
  const made = commandPayload({ 'of.Int8': null }, birth, 0);
  if ('refused' in made) throw new Error(made.refused);
  expect(readPayload(made.bytes).metrics).toEqual([
    { name: 'of/Int8', timestamp: 0, datatype: 1, isNull: true },
  ]);
});

test.each<[string, Json, RegExp]>([
  ['of/Int8', 128, /type Int8, which cannot be 128/],
  ['of/UInt8', -1, /UInt8/],
  ['of/Int32', 1.5, /Int32/],
  ['of/UInt64', '99999999999999999999', /UInt64/],
  ['of/Double', 'x', /Double/],
  ['of/Boolean', 1, /Boolean/],
  ['of/String', 1, /String/],
  ['of/Bytes', '***', /Bytes/],
  ['of/DateTime', 'soon', /DateTime/],
  ['of/Int8Array', [300], /Int8Array/],
  ['of/BooleanArray', [1], /BooleanArray/],
  ['of/DataSet', {}, /DataSet/],
  ['nothing', 1, /unknown metric "nothing"/],
])('%s is refused for %j', (name, value, reason) => {
  expect(commandPayload({ [name]: value }, birth, 0)).toEqual({
    refused: expect.stringMatching(reason),
  });
});

test('the request for births is as the specification writes it', () => {
  const [metric] = Payload.decode(rebirthPayload(5)).metrics ?? [];
  expect(metric).toMatchObject({ name: 'Node Control/Rebirth', datatype: 11, booleanValue: true });
});
