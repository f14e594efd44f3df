// Payload codecs run unchanged, LoRa Alliance TS013 in any style and the older forms (interface 2.10).
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../model/json.ts';
import { runScript } from './run-script.ts';
import { createScriptMachine, type ScriptMachine } from './script-machine.ts';

let machine: ScriptMachine;
beforeAll(() => {
  machine = createScriptMachine({ workers: 1 });
});
afterAll(() => machine.close());

const uplink = { data: { port: 2, payloadHex: '00C8ff' }, timestamp: '2026-03-01T10:00:00.000Z' };
const run = (source: string, event: Json = uplink) =>
  runScript(machine, { tenant: 'tenant', source, event });
const sample = (data: Json) => [{ type: 'SAMPLE', event: { data } }];

const styles: [string, string][] = [
  [
    'a function',
    'function decodeUplink(input) { return { data: { t: input.bytes[1], port: input.fPort } }; }',
  ],
  [
    'a variable',
    'var decodeUplink = function (input) { return { data: { t: input.bytes[1], port: input.fPort } }; };',
  ],
  [
    'an arrow function',
    'const decodeUplink = ({ bytes, fPort }) => ({ data: { t: bytes[1], port: fPort } });',
  ],
  [
    'undeclared variables',
    'function decodeUplink(input) { for (i = 0; i < 2; i++) t = input.bytes[i]; return { data: { t, port: input.fPort } }; }',
  ],
  [
    'module.exports at the end',
    'function decodeUplink(i) { return { data: { t: i.bytes[1], port: i.fPort } }; }\nmodule.exports = { decodeUplink: decodeUplink };',
  ],
  [
    'module.exports only',
    'module.exports = { decodeUplink: function (i) { return { data: { t: i.bytes[1], port: i.fPort } }; } };',
  ],
  ['exports only', 'exports.decodeUplink = (i) => ({ data: { t: i.bytes[1], port: i.fPort } });'],
  [
    'guarded exports',
    'function decodeUplink(i) { return { data: { t: i.bytes[1], port: i.fPort } }; }\nif (typeof module !== "undefined" && typeof exports !== "undefined") { exports.decodeUplink = decodeUplink; }',
  ],
  [
    'an export declaration',
    'export function decodeUplink(i) { return { data: { t: i.bytes[1], port: i.fPort } }; }',
  ],
  [
    'calls of the console',
    'function decodeUplink(i) { console.log("bytes", i.bytes); console.error(1); return { data: { t: i.bytes[1], port: i.fPort } }; }',
  ],
  [
    'a strict codec',
    '"use strict";\nfunction decodeUplink(i) { return { data: { t: i.bytes[1], port: i.fPort } }; }',
  ],
  [
    'numbers in octal',
    'function decodeUplink(i) { return { data: { t: i.bytes[01], port: i.fPort } }; }',
  ],
  [
    'an asynchronous codec',
    'async function decodeUplink(i) { return { data: { t: i.bytes[1], port: i.fPort } }; }',
  ],
  [
    'syntax of later years',
    'function decodeUplink(i) { let t; t ??= i.bytes.at(1); return { data: { t, port: i.fPort } }; }',
  ],
];

for (const [name, source] of styles) {
  test(`a codec with ${name}`, async () =>
    expect(await run(source)).toEqual(sample({ t: 200, port: 2 })));
}

test('the input has bytes, port and time of receipt', async () => {
  const source =
    'function decodeUplink(i) { return { data: { bytes: i.bytes, fPort: i.fPort, at: i.recvTime.getTime(), keys: Object.keys(i) } }; }';
  const at = Date.parse(uplink.timestamp);
  expect(await run(source)).toEqual(
    sample({
      bytes: [0, 200, 255],
      fPort: 2,
      at,
      keys: ['bytes', 'fPort', 'recvTime', 'variables'],
    }),
  );
});

test('warnings are logs next to the sample, errors are ERROR entries without one', async () => {
  const warned =
    'function decodeUplink() { return { data: { a: 1 }, warnings: ["low battery"], errors: [] }; }';
  expect(await run(warned)).toEqual([
    { type: 'LOG', event: { message: 'low battery' } },
    ...sample({ a: 1 }),
  ]);
  const failed =
    'function decodeUplink() { return { data: { a: 1 }, errors: ["unknown port", "again"] }; }';
  expect(await run(failed)).toEqual([
    { type: 'ERROR', event: { message: 'unknown port' } },
    { type: 'ERROR', event: { message: 'again' } },
  ]);
});

test('exceptions and missing functions are errors with their place', async () => {
  expect(await run('function decodeUplink(i) {\n  return i.no.thing;\n}')).toEqual([
    {
      type: 'ERROR',
      event: { message: expect.stringContaining('TypeError'), line: 2, column: expect.any(Number) },
    },
  ]);
  expect(await run('function encodeDownlink() {}')).toEqual([
    { type: 'ERROR', event: { message: 'decodeUplink is not defined in this payload codec' } },
  ]);
  expect(await run('function decodeUplink() { return 5 }')).toEqual([
    { type: 'ERROR', event: { message: 'decodeUplink returned no object' } },
  ]);
  expect(await run('function decodeUplink() {\n let a = ;')).toEqual([
    {
      type: 'ERROR',
      event: { message: expect.stringContaining('SyntaxError'), line: 2, column: 10 },
    },
  ]);
});

test('encodeDownlink makes a downlink of the payload, decodeDownlink the payload of a downlink', async () => {
  const source = `function encodeDownlink(input) { return { bytes: [input.data.level, 255, -1], fPort: 7, warnings: [], errors: [] }; }
    function decodeDownlink(input) { return { data: { level: input.bytes[0], port: input.fPort } }; }`;
  const event = { payload: { level: 3 }, port: 1, confirmed: true };
  expect(await run(source, event)).toEqual([
    { type: 'DOWNLINK', event: { port: 7, confirmed: true, payloadHex: '03ffff' } },
  ]);
  const decoded = await machine.run({
    tenant: 'tenant',
    source,
    event: { payloadHex: '05', port: 9 },
    entry: 'decodeDownlink',
  });
  expect(decoded.emits).toEqual([
    { type: 'DOWNLINK', event: { port: 9, payload: { level: 5, port: 9 } } },
  ]);
});

test('a codec cannot spoil what follows it', async () => {
  const spoiler =
    'Array.prototype.map = null; Object.prototype.evil = 1; leak = 1; function decodeUplink() { return { data: { a: 1 } } }';
  expect(await run(spoiler)).toEqual(sample({ a: 1 }));
  expect(
    await run(
      'function decodeUplink() { return { data: { leak: typeof leak, evil: ({}).evil } } }',
    ),
  ).toEqual(sample({ leak: 'undefined' }));
});

test('a script with both is a script with consume', async () => {
  const source =
    'function decodeUplink(i) { return { data: { t: i } } }\nfunction consume() { emit("sample", decodeUplink(1)); }';
  expect(await run(source)).toEqual(sample({ t: 1 }));
});

const device = {
  id: '1',
  deviceId: 'd-1',
  name: 'D',
  customFields: { offset: '1.5', factor: 2, calibration: { a: 1 }, none: null, isOn: true },
  tags: [],
};

test('variables are the custom fields of the device, as strings', async () => {
  const variables = { offset: '1.5', factor: '2', calibration: '{"a":1}', isOn: 'true' };
  const source = 'function decodeUplink(i) { return { data: i.variables }; }';
  expect(await run(source, { ...uplink, device })).toEqual(sample(variables));
  expect(await run(source)).toEqual(sample({}));
  const encoder =
    'function encodeDownlink(i) { return { bytes: [i.data.on, i.fPort, Number(i.variables.factor)], fPort: 3 }; }';
  expect(await run(encoder, { payload: { on: 1 }, port: 9, device })).toEqual([
    { type: 'DOWNLINK', event: { port: 3, payloadHex: '010902' } },
  ]);
});

const decoder = 'function Decoder(bytes, port) { return { t: bytes[1], port: port }; }';
const oldDecoders: [string, string, Json[]][] = [
  ['The Things Network 2', decoder, sample({ t: 200, port: 2 })],
  [
    'The Things Network 2, with a converter',
    `${decoder} function Converter(decoded, port) { decoded.t = decoded.t / 10 + port; return decoded; }`,
    sample({ t: 22, port: 2 }),
  ],
  [
    'The Things Network 2, with a validator that agrees',
    `${decoder} function Validator(converted, port) { return port === 2; }`,
    sample({ t: 200, port: 2 }),
  ],
  [
    'The Things Network 2, with a validator that refuses',
    `${decoder} function Validator(converted) { return converted.t < 100; }`,
    [{ type: 'ERROR', event: { message: 'Validator refused the payload' } }],
  ],
  [
    'ChirpStack 3',
    'function Decode(fPort, bytes, variables) { return { t: bytes[1] + Number(variables.offset), port: fPort }; }',
    sample({ t: 201.5, port: 2 }),
  ],
  [
    'ChirpStack 3, as a variable and not strict',
    'var Decode = function (fPort, bytes) { t = bytes[01]; return { t: t }; }',
    sample({ t: 200 }),
  ],
  [
    'all forms: the current one counts',
    `${decoder} function Decode() { return { v3: 1 }; } function decodeUplink() { return { data: { v4: 1 } }; }`,
    sample({ v4: 1 }),
  ],
  [
    'both old forms: that of ChirpStack counts',
    `${decoder} function Decode() { return { v3: 1 }; }`,
    sample({ v3: 1 }),
  ],
  [
    'a script with consume that uses an old name',
    'function Decode(value) { return value + 1; } function consume() { emit("sample", { data: { a: Decode(1) } }); }',
    sample({ a: 2 }),
  ],
];

for (const [name, source, emits] of oldDecoders) {
  test(`a decoder of ${name}`, async () =>
    expect(await run(source, { ...uplink, device })).toEqual(emits));
}

const oldEncoders: [string, string][] = [
  ['Encoder', 'function Encoder(obj, port) { return [obj.level, port]; }'],
  [
    'Encode',
    'function Decode() {} function Encode(fPort, obj, variables) { return [obj.level, fPort]; }',
  ],
];

for (const [name, source] of oldEncoders) {
  test(`an old codec with ${name} makes a downlink`, async () =>
    expect(await run(source, { payload: { level: 5 }, port: 9, confirmed: false })).toEqual([
      { type: 'DOWNLINK', event: { port: 9, confirmed: false, payloadHex: '0509' } },
    ]));
}

test('an old codec without a decoder says what is missing', async () => {
  expect(await run('function Encoder() { return []; }')).toEqual([
    { type: 'ERROR', event: { message: 'decodeUplink is not defined in this payload codec' } },
  ]);
});
