// Payload codecs run unchanged, LoRa Alliance TS013 in any style and the older forms (interface 2.10).
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../model/json.ts';
import { runScript, ScriptMachine } from './script-machine.ts';

let machine: ScriptMachine;
beforeAll(() => {
  machine = new ScriptMachine({ workers: 1 });
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
    [{ type: 'ERROR', event: { message: 'The validator rejected the payload' } }],
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

const own = 'function decodeUplink(i) { return { data: { t: i.bytes[1], port: i.fPort } }; }';
const decoded = sample({ t: 200, port: 2 });
const inExports = '{ decodeUplink: (i) => ({ data: { t: i.bytes[1], port: i.fPort } }) }';

const modules: [string, string][] = [
  ...['undefined', 'null', '5', '"text"', '{}', '{ decodeUplink: 7 }', 'function other() {}'].map(
    (left): [string, string] => [`exports ${left}`, `${own}\nmodule.exports = ${left};`],
  ),
  [
    'exports with another decoder',
    `${own}\nmodule.exports = { decodeUplink: () => ({ data: { other: 1 } }) };`,
  ],
  ...['undefined', 'null', '{}', '5'].map((left): [string, string] => [
    `replaces module by ${left}`,
    `${own}\nmodule = ${left};`,
  ]),
  ...['var', 'let', 'const'].flatMap((kind): [string, string][] => [
    [`declares ${kind} module`, `${own}\n${kind} module = {};`],
    [`declares ${kind} exports`, `${own}\n${kind} exports = {};`],
    [`declares ${kind} console`, `${own}\n${kind} console = { log() {} }; console.log(1);`],
    [`exports by its own ${kind} module`, `${kind} module = {}; module.exports = ${inExports};`],
    [`exports by its own ${kind} exports`, `${kind} exports = ${inExports};`],
  ]),
  ['declares classes of these names', `class module {} class console {} class exports {}\n${own}`],
  ['declares functions of these names', `function module() {} function console() {}\n${own}`],
  ['keeps what var names', 'var exports = exports || {}; exports.decodeUplink = ' + arrow()],
  ['keeps module in var', 'var module = module || {}; module.exports.decodeUplink = ' + arrow()],
  ['removes module', `${own}\ndelete globalThis.module; delete globalThis.exports;`],
  ['exports a getter that throws', `${own}\nmodule.exports = { get decodeUplink() { throw 1 } };`],
  ['assigns a global', `this.decodeUplink = ${arrow()}`],
  ['assigns a member of globalThis', `globalThis.decodeUplink = ${arrow()}`],
  [
    'is a class',
    `class Codec { static decodeUplink(i) { return Codec.read(i); } static read(i) { return { data: { t: i.bytes[1], port: i.fPort } }; } }\nmodule.exports = Codec;`,
  ],
];

function arrow(): string {
  return '(i) => ({ data: { t: i.bytes[1], port: i.fPort } });';
}

for (const [name, source] of modules) {
  test(`behaviour 26: a codec that ${name}`, async () =>
    expect(await run(source)).toEqual(decoded));
}

const helper = 'function helper(i) { return i.bytes[1]; }';
const withBody = (body: string, rest = helper): string =>
  `${rest}\nfunction decodeUplink(i) { return { data: { t: ${body}, port: i.fPort } }; }`;

const globalScripts: [string, string][] = [
  ['this.helper()', withBody('this.helper(i)')],
  ['globalThis.helper()', withBody('globalThis.helper(i)')],
  ['this at the top level', `${helper}\nvar self = this;\n${withBody('self.helper(i)', '')}`],
  ['a function by its name', withBody('globalThis["hel" + "per"](i)')],
  ['new Function', withBody('new Function("i", "return helper(i)")(i)')],
  ['indirect eval', withBody('(0, eval)("helper")(i)')],
  ['constants in new Function', withBody('new Function("return limit")()', 'const limit = 200;')],
  ['var as a member', withBody('this.value', 'var value = 200;')],
  ['a member as var', withBody('value', 'var value; globalThis.value = 200;')],
  ['a replaced function', withBody('helper(i)', `${helper}\nglobalThis.helper = () => 200;`)],
  [
    'a function in a block',
    withBody('this.inner()', 'if (true) { function inner() { return 200; } }'),
  ],
  ['hoisting', `var first = early();\n${withBody('first', 'function early() { return 200; }')}`],
  ['a global that a function makes', withBody('(made = helper(i), this.made)')],
  ['var twice', withBody('value', 'var value = 1; var value = 200; function value() {}')],
  ['names of built-ins', withBody('helper(i)', `${helper}\nvar emit = 1, Bits = 2; let Hex = 3;`)],
  ['its own Map', withBody('new Map().size', 'class Map { size = 200 }')],
  [
    'a method that uses another',
    'module.exports = { decodeUplink(i) { return { data: { t: this.read(i), port: i.fPort } }; }, read: (i) => i.bytes[1] };',
  ],
  [
    'a helper named consume',
    withBody('consume(i.bytes, 1)', 'function consume(bytes, at) { return bytes[at]; }'),
  ],
  [
    'an import',
    `import { DateTime } from 'luxon';\n${withBody('DateTime.fromMillis(200).toMillis()', '')}`,
  ],
];

for (const [name, source] of globalScripts) {
  test(`behaviour 27: a codec is a global script: ${name}`, async () => {
    for (let i = 0; i < 2; i++) expect(await run(source)).toEqual(decoded);
  });
}

const helpers: [string, string][] = [
  [
    'of an exported codec',
    `function consume(b) { return b[1]; } module.exports = { decodeUplink: (i) => ({ data: { t: consume(i.bytes), port: i.fPort } }) };`,
  ],
  [
    'of an old codec',
    'function consume(b) { return b[1]; } function Decoder(b, port) { return { t: consume(b), port: port }; }',
  ],
  [
    'with emit in a comment',
    '// as emit does\nfunction consume(b) { return b[1]; } function decodeUplink(i) { return { data: { t: consume(i.bytes), port: i.fPort } }; }',
  ],
];
for (const [name, source] of helpers) {
  test(`behaviour 29: a helper named consume ${name}`, async () =>
    expect(await run(source)).toEqual(decoded));
}

test('behaviour 27: a strict codec stays strict, another is not', async () => {
  const source = 'function decodeUplink(i) { return { data: { t: this === undefined } }; }';
  expect(await run(`"use strict";\n${source}`)).toEqual(sample({ t: true }));
  expect(await run(source)).toEqual(sample({ t: false }));
});

const places: [string, string, number, number][] = [
  ['at the top level', 'var a = 1;\n\n  missing();\nfunction decodeUplink() {}', 3, 3],
  ['in a strict codec', '"use strict";\nvar a;\n  missing();\nfunction decodeUplink() {}', 3, 3],
  ['in a function', 'function decodeUplink() {\n  var b = 1;\n  return missing;\n}', 3, 10],
  [
    'in a helper',
    'var a;\nfunction decodeUplink() { return this.h(); }\nfunction h() {\n  missing();\n}',
    4,
    3,
  ],
];

for (const [name, source, line, column] of places) {
  test(`behaviour 27: an error has its line ${name}`, async () =>
    expect(await run(source)).toEqual([
      { type: 'ERROR', event: { message: 'ReferenceError: missing is not defined', line, column } },
    ]));
}

test('behaviour 27: nothing of a run is left for the next one', async () => {
  const source = `var runs = 0; let list = []; const seen = [typeof left, typeof Array.prototype.left, module.exports.left];
    left = 1; Array.prototype.left = 1; module.exports.left = 1; console.left = 1;
    function decodeUplink() { runs++; list.push(1); return { data: { runs, length: list.length, seen } }; }`;
  const fresh = sample({ runs: 1, length: 1, seen: ['undefined', 'undefined', null] });
  for (let i = 0; i < 5; i++) expect(await run(source)).toEqual(fresh);
  expect(await run(own)).toEqual(decoded);
});

test('behaviour 27: a codec that does not end is ended at its top level, too', async () => {
  for (const source of [`for (;;);\n${own}`, `function decodeUplink() { for (;;); }`])
    expect(await run(source)).toEqual([
      { type: 'ERROR', event: { message: 'The script exceeded its time limit of 100 ms' } },
    ]);
  expect(await run(`(function deep() { deep(); })();\n${own}`)).toEqual([
    { type: 'ERROR', event: expect.objectContaining({ message: expect.stringMatching(/stack/i) }) },
  ]);
  expect(await run('async function decodeUplink() { await new Promise(() => {}); }')).toEqual([
    { type: 'ERROR', event: { message: 'The promise of decodeUplink was never settled' } },
  ]);
});

const raw = 'function decodeUplink(i) { return { data: { temp: 215 } }; }';
const normalized: [string, string, Json[]][] = [
  [
    'one measurement',
    'function normalizeUplink(i) { return { data: { air: { temperature: i.data.temp / 10 } } }; }',
    [{ type: 'SAMPLE', event: { data: { air: { temperature: 21.5 } }, topic: 'normalized' } }],
  ],
  [
    'several, with their times',
    'function normalizeUplink(i) { return { data: [{ a: 1, time: "2026-03-01T09:00:00Z" }, { a: 2 }], warnings: ["old"] }; }',
    [
      { type: 'LOG', event: { message: 'old' } },
      {
        type: 'SAMPLE',
        event: {
          data: { a: 1, time: '2026-03-01T09:00:00Z' },
          topic: 'normalized',
          timestamp: '2026-03-01T09:00:00Z',
        },
      },
      { type: 'SAMPLE', event: { data: { a: 2 }, topic: 'normalized' } },
    ],
  ],
  [
    'errors',
    'module.exports.normalizeUplink = () => ({ errors: ["no temperature"] });',
    [{ type: 'ERROR', event: { message: 'no temperature' } }],
  ],
  [
    'an exception',
    'async function normalizeUplink(i) { throw new Error("broken"); }',
    [{ type: 'ERROR', event: expect.objectContaining({ message: 'broken' }) as Json }],
  ],
  [
    'nothing',
    'function normalizeUplink(i) { return; }',
    [{ type: 'ERROR', event: { message: 'normalizeUplink returned no object' } }],
  ],
];

for (const [name, source, emits] of normalized) {
  test(`behaviour 28: normalizeUplink adds samples beside the data: ${name}`, async () =>
    expect(await run(`${raw}\n${source}`)).toEqual([...sample({ temp: 215 }), ...emits]));
}

test('behaviour 28: the script runner decodes a downlink', async () => {
  const source =
    'function decodeUplink() {}\nfunction decodeDownlink(i) { return { data: { level: i.bytes[0], port: i.fPort } }; }';
  expect(await run(source, { payloadHex: '05', port: 9 })).toEqual([
    { type: 'DOWNLINK', event: { port: 9, payload: { level: 5, port: 9 } } },
  ]);
});

const refused: [string, string][] = [
  [
    '"0102"',
    'encodeDownlink must return bytes, an array of numbers from 0 to 255; its bytes is "0102"',
  ],
  [
    'undefined',
    'encodeDownlink must return bytes, an array of numbers from 0 to 255; its bytes is undefined',
  ],
  [
    'null',
    'encodeDownlink must return bytes, an array of numbers from 0 to 255; its bytes is null',
  ],
  [
    '{ 0: 1 }',
    'encodeDownlink must return bytes, an array of numbers from 0 to 255; its bytes is an object',
  ],
  ['[1, NaN]', 'encodeDownlink returned bytes[1] NaN; it must be a number from 0 to 255'],
  ['[1, Infinity]', 'encodeDownlink returned bytes[1] Infinity; it must be a number from 0 to 255'],
  ['[[1]]', 'encodeDownlink returned bytes[0] an array; it must be a number from 0 to 255'],
  ['[1, 2, "3"]', 'encodeDownlink returned bytes[2] "3"; it must be a number from 0 to 255'],
  ['[, 1]', 'encodeDownlink returned bytes[0] undefined; it must be a number from 0 to 255'],
  ['[{}]', 'encodeDownlink returned bytes[0] an object; it must be a number from 0 to 255'],
];
const command = { payload: {}, port: 3, confirmed: false };

for (const [bytes, message] of refused) {
  test(`behaviour 29: bytes ${bytes} of an encoder are refused with their element`, async () => {
    const error = [{ type: 'ERROR', event: { message } }];
    expect(await run(`function encodeDownlink() { return { bytes: ${bytes} }; }`, command)).toEqual(
      error,
    );
    expect(await run(`function Encoder() { return ${bytes}; }`, command)).toEqual(error);
  });
}

const sent: [string, string, string[]][] = [
  ['[]', '', []],
  ['[0, 255, -1, true]', '00ffff01', []],
  ['new Uint8Array([1, 2])', '0102', []],
  ['Buffer.from("0aff", "hex")', '0aff', []],
  [
    '[1.5, 300]',
    '012c',
    [
      'encodeDownlink returned bytes[0] 1.5, which is no byte; 1 is sent',
      'encodeDownlink returned bytes[1] 300, which is no byte; 44 is sent',
    ],
  ],
];

for (const [bytes, payloadHex, warnings] of sent) {
  test(`behaviour 29: bytes ${bytes} of an encoder are sent`, async () =>
    expect(await run(`function encodeDownlink() { return { bytes: ${bytes} }; }`, command)).toEqual(
      [
        ...warnings.map((message) => ({ type: 'LOG', event: { message } })),
        { type: 'DOWNLINK', event: { port: 3, confirmed: false, payloadHex } },
      ],
    ));
}
