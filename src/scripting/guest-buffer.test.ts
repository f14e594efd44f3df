// The global Buffer of scripts, held against Node's.
import { afterAll, beforeAll, expect, test } from 'vitest';
import fc from 'fast-check';
import type { Json } from '../model/json.ts';
import { runScript, ScriptMachine } from './script-machine.ts';

let machine: ScriptMachine;
beforeAll(() => {
  machine = new ScriptMachine({ workers: 1 });
});
afterAll(() => machine.close());

// What an expression gives: bytes and other values as text, or the code and kind of its exception.
const shown = `(f) => {
  try {
    const value = f();
    if (Buffer.isBuffer(value)) return 'bytes ' + value.toString('hex');
    return typeof value + ' ' + (typeof value === 'object' ? JSON.stringify(value) : Object.is(value, -0) ? '-0' : String(value));
  } catch (error) { return error.name + ' ' + error.code; }
}`;

async function inGuest(expressions: readonly string[]): Promise<Json[]> {
  const list = expressions.map((expression) => `() => ${expression}`).join(',\n');
  const source = `function consume() { emit('log', [${list}].map(${shown})); }`;
  const [log] = await runScript(machine, { tenant: 'tenant', source, event: {} });
  return log!.event as Json[];
}

function inNode(expressions: readonly string[]): Json[] {
  const list = expressions.map((expression) => `() => ${expression}`).join(',\n');
  // oxlint-disable-next-line no-implied-eval -- The expressions are made here, to compare two engines.
  return new Function(`return [${list}].map(${shown})`)() as Json[];
}

async function agree(expressions: readonly string[]): Promise<void> {
  const found = await inGuest(expressions);
  const wanted = inNode(expressions);
  const differences = expressions.flatMap((expression, i) =>
    found[i] === wanted[i] ? [] : [`${expression}: ${String(found[i])}, not ${String(wanted[i])}`],
  );
  expect(differences).toEqual([]);
}

const encodings = ['utf8', 'hex', 'base64', 'base64url', 'ascii', 'latin1', 'utf16le', 'binary'];
const text = JSON.stringify;

const bytes = fc.uint8Array({ maxLength: 12 }).map((list) => `Buffer.from(${text([...list])})`);
const encoding = fc.constantFrom(...encodings).map(text);
const position = fc.oneof(
  fc.integer({ min: -3, max: 14 }).map(String),
  fc.constantFrom('undefined', '1.5', 'NaN'),
);
const anyText = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.stringMatching(/^[0-9a-fA-F]{0,12}$/),
  fc.stringMatching(/^[A-Za-z0-9+/_-]{0,11}={0,2}$/),
  fc.constantFrom('\ud800', 'a\udc00b', 'zz', '0x12', 'äöü€😀'),
);

// Node reads one byte of each wide character of base64 and hex, which no codec can mean.
const encodedText = fc
  .tuple(anyText, encoding)
  .filter(([t, e]) => !/base64|hex/.test(e) || /^[\0-\xff]*$/.test(t));

const kinds = ['Int', 'UInt', 'Uint'];
const fixedNumbers = [
  ...kinds.flatMap((kind) => ['8', '16LE', '16BE', '32LE', '32BE'].map((end) => kind + end)),
  'FloatLE',
  'FloatBE',
  'DoubleLE',
  'DoubleBE',
];
const bigNumbers = ['BigInt64LE', 'BigInt64BE', 'BigUInt64LE', 'BigUInt64BE', 'BigUint64LE'];
const sizedNumbers = kinds.flatMap((kind) => ['LE', 'BE'].map((end) => kind + end));

const number = fc.oneof(
  fc.integer({ min: -130, max: 300 }).map(String),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 }).map(String),
  fc.integer({ min: -(2 ** 47), max: 2 ** 48 }).map(String),
  fc.constantFrom('1.7', '-1.7', 'NaN', 'undefined', '"12"', '1e300', '-0', '0xffffffff'),
);
const big = fc.oneof(
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 65n }).map((value) => `${value}n`),
  fc.constantFrom('0n', '-1n', `${2n ** 63n}n`, `${2n ** 64n - 1n}n`),
);
const size = fc.constantFrom('1', '2', '3', '4', '5', '6', '0', '7', '2.5', 'undefined');

function written(name: string, value: string, at: string, more = ''): string {
  return `(() => { const b = Buffer.alloc(9, 7); const end = b.write${name}(${value}, ${at}${more}); return end + ' ' + b.toString('hex'); })()`;
}

const expressionsOf: Record<string, fc.Arbitrary<string>> = {
  'texts to bytes': encodedText.map(([t, e]) => `Buffer.from(${text(t)}, ${e})`),
  'bytes to texts': fc.tuple(bytes, encoding).map(([b, e]) => `${b}.toString(${e})`),
  'parts to texts': fc
    .tuple(bytes, encoding, position, position)
    .map(([b, e, from, to]) => `${b}.toString(${e}, ${from}, ${to})`),
  'byte lengths': fc
    .tuple(anyText, encoding)
    .map(([t, e]) => `Buffer.byteLength(${text(t)}, ${e})`),
  parts: fc
    .tuple(bytes, fc.constantFrom('slice', 'subarray'), position, position)
    .map(([b, name, from, to]) => `${b}.${name}(${from}, ${to})`),
  reads: fc
    .tuple(bytes, fc.constantFrom(...fixedNumbers, ...bigNumbers), position)
    .map(([b, name, at]) => `${b}.read${name}(${at})`),
  'reads with a size': fc
    .tuple(bytes, fc.constantFrom(...sizedNumbers), position, size)
    .map(([b, name, at, count]) => `${b}.read${name}(${at}, ${count})`),
  writes: fc
    .tuple(fc.constantFrom(...fixedNumbers), number, position)
    .map(([name, value, at]) => written(name, value, at)),
  'writes of BigInt': fc
    .tuple(fc.constantFrom(...bigNumbers), big, position)
    .map(([name, value, at]) => written(name, value, at)),
  'writes with a size': fc
    .tuple(
      fc.constantFrom(...sizedNumbers),
      number,
      fc.integer({ min: -1, max: 9 }).map(String),
      size,
    )
    .map(([name, value, at, count]) => written(name, value, at, `, ${count}`)),
  comparisons: fc
    .tuple(bytes, bytes, fc.constantFrom('equals', 'compare'))
    .map(([a, b, name]) => `${a}.${name}(${b})`),
  joins: fc.tuple(bytes, bytes, bytes).map(([a, b, c]) => `Buffer.concat([${a}, ${b}, ${c}])`),
  'joins to a length': fc
    .tuple(bytes, bytes, fc.integer({ min: 0, max: 30 }))
    .map(([a, b, total]) => `Buffer.concat([${a}, ${b}], ${total})`),
  copies: fc
    .tuple(bytes, position, position, position)
    .map(
      ([a, to, from, end]) =>
        `(() => { const t = Buffer.alloc(6, 1); const n = ${a}.copy(t, ${to}, ${from}, ${end}); return n + ' ' + t.toString('hex'); })()`,
    ),
  searches: fc
    .tuple(
      fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 8 }),
      fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 3 }),
      fc.constantFrom('indexOf', 'lastIndexOf', 'includes'),
      position,
    )
    .map(
      ([all, some, name, at]) =>
        `Buffer.from(${text(all)}).${name}(Buffer.from(${text(some)}), ${at})`,
    ),
  'searches of numbers and texts': fc
    .tuple(bytes, fc.constantFrom('0', '255', '256', '-1', '"a"', '"6100"'), position)
    .map(([b, value, at]) => `${b}.indexOf(${value}, ${at}, "hex")`),
  'writes of texts': fc
    .tuple(encodedText, fc.integer({ min: 0, max: 6 }))
    .map(
      ([[t, e], at]) =>
        `(() => { const b = Buffer.alloc(6, 1); const n = b.write(${text(t)}, ${at}, ${e}); return n + ' ' + b.toString('hex'); })()`,
    ),
  'fills and allocations': fc
    .tuple(fc.integer({ min: 0, max: 9 }), fc.oneof(number, fc.constantFrom('"ab"', '"é"')))
    .map(([length, value]) => `Buffer.alloc(${length}, ${value})`),
};

for (const [name, expression] of Object.entries(expressionsOf)) {
  test(`behaviour 17: Buffer agrees with Node: ${name}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(expression, { minLength: 1, maxLength: 90, size: 'max' }), agree),
      { numRuns: 20 },
    );
  });
}

test('behaviour 17: Buffer agrees with Node where codecs use it', async () => {
  await agree([
    'typeof Buffer',
    'Buffer.isBuffer(Buffer.alloc(1)) && !Buffer.isBuffer(new Uint8Array(1))',
    'Buffer.from([1, 2]) instanceof Uint8Array',
    'Buffer.from([300, -1, 1.9, "7", "x", null])',
    'Buffer.from({ length: 2, 0: 5, 1: 6 })',
    'Buffer.from({ type: "Buffer", data: [1, 2] })',
    'Buffer.from(Buffer.from([1, 2]))',
    'Buffer.from(new Uint16Array([1, 258]))',
    'Buffer.from(new Uint8Array([1, 2, 3]).buffer, 1)',
    'Buffer.from(new Uint8Array([1, 2, 3]).buffer, 1, 1)',
    'Buffer.from(new Uint8Array([1, 2, 3]).buffer, 4)',
    'Buffer.from(new String("ab"))',
    'Buffer.from(5)',
    'Buffer.from(null)',
    'Buffer.from(undefined)',
    'Buffer.from("a", "none")',
    'Buffer.alloc(-1)',
    'Buffer.alloc("1")',
    'new Buffer("0aff", "hex")',
    'new Buffer([1, 2])',
    'Buffer("ab")',
    'new Buffer(3)',
    'Buffer.from([1, 2]).toJSON()',
    'JSON.stringify({ a: Buffer.from([1, 2]) })',
    'String(Buffer.from("aé"))',
    '[...Buffer.from([1, 2])].join()',
    'Array.from(Buffer.from([1, 2])).map((x) => x * 2).join()',
    'Buffer.from([1, 2]).map((x) => x * 2)',
    'Buffer.from([3, 1]).reverse()',
    '(() => { const b = Buffer.from([1, 2, 3]); b.slice(1)[0] = 9; return b; })()',
    'Buffer.concat([])',
    'Buffer.concat([[1]])',
    'Buffer.concat("a")',
    'Buffer.byteLength(Buffer.alloc(3))',
    'Buffer.byteLength(5)',
    'Buffer.isEncoding("UTF-8") + " " + Buffer.isEncoding("utf9") + " " + Buffer.isEncoding("HEX")',
    'Buffer.compare(Buffer.from("a"), Buffer.from("b"))',
    'Buffer.from("a").equals("a")',
    'Object.keys(Buffer.from([5])).join()',
    'Buffer.from([1]).length + Buffer.from([1]).byteLength',
    'Buffer.from("abc").toString("nope")',
    'Buffer.from("abc").toString("HEX")',
    'Buffer.from([0xe2, 0x82, 0x41, 0xf0, 0x9f, 0x98, 0xc0, 0x80, 0xed, 0xa0, 0x80]).toString()',
    'Buffer.from([1, 2]).readUInt16BE("0")',
    'Buffer.from([1, 2]).readUIntBE(0)',
    'Buffer.alloc(8).writeBigInt64BE(1)',
    'Buffer.from([1, 2]).entries().next().value.join()',
    '"" + Buffer.from([1, 2]).fill(0)',
  ]);
});

test('behaviour 17: a script may declare, replace or remove Buffer', async () => {
  const value = async (source: string): Promise<Json> =>
    (await runScript(machine, { tenant: 'tenant', source, event: {} }))[0]!.event;
  expect(
    await value('const Buffer = { own: 1 }; function consume() { emit("log", Buffer); }'),
  ).toEqual({ own: 1 });
  expect(await value('Buffer = { own: 2 }; function consume() { emit("log", Buffer); }')).toEqual({
    own: 2,
  });
  for (const declared of [
    'let Buffer = 3',
    'class Buffer {}',
    'function Buffer() {}',
    'var Buffer',
  ])
    expect(
      await value(`${declared};\nfunction decodeUplink() { return { data: { a: 1 } }; }`),
    ).toEqual({ data: { a: 1 } });
  const codec =
    'function decodeUplink(input) { return { data: { v: Buffer.from(input.bytes).readUInt16BE(0) } }; }';
  const event = { data: { payloadHex: '0102' } };
  expect(await runScript(machine, { tenant: 'tenant', source: codec, event })).toEqual([
    { type: 'SAMPLE', event: { data: { v: 258 } } },
  ]);
});
