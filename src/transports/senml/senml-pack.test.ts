// SenML packs: the examples and rules of RFC 8428, in JSON and in CBOR, and broken packs.
import { encode } from 'cborg';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../model/json.ts';
import { Problem } from '../../model/problem.ts';
import { allSteps } from '../../structures/turns.ts';
import {
  keyBehind,
  parseSenmlCbor,
  prefixesOf,
  type ResolvedPack,
  resolvePack,
  samplesOfValues,
} from './senml-pack.ts';

const receivedAt = 1_700_000_000_000;

const resolved = (pack: Json | readonly Json[], at: number): ResolvedPack =>
  allSteps(resolvePack(pack, at));

/** Name, unit, time relative to receipt in seconds where it is, value, sum. */
const shown = (pack: Json) =>
  resolved(pack, receivedAt).values.map(({ name, unit, timestamp, value, sum }) => [
    name,
    unit ?? null,
    timestamp,
    value ?? null,
    ...(sum === undefined ? [] : [sum]),
  ]);

test.each<[string, Json, unknown[]]>([
  [
    'one value (5.1.1)',
    [{ n: 'urn:dev:ow:10e2073a01080063', u: 'Cel', v: 23.1 }],
    [['urn:dev:ow:10e2073a01080063', 'Cel', receivedAt, 23.1]],
  ],
  [
    'base fields, and times before the receipt (5.1.3)',
    [
      {
        bn: 'urn:dev:ow:10e2073a0108006:',
        bt: 1.276020076001e9,
        bu: 'A',
        bver: 5,
        n: 'voltage',
        u: 'V',
        v: 120.1,
      },
      { n: 'current', t: -5, v: 1.2 },
      { n: 'current', t: -4, v: 1.3 },
    ],
    [
      ['urn:dev:ow:10e2073a0108006:voltage', 'V', 1_276_020_076_001, 120.1],
      ['urn:dev:ow:10e2073a0108006:current', 'A', 1_276_020_071_001, 1.2],
      ['urn:dev:ow:10e2073a0108006:current', 'A', 1_276_020_072_001, 1.3],
    ],
  ],
  [
    'a base record alone, and base fields that are replaced',
    [
      { bn: 'a:', bt: 100, bu: 'V' },
      { n: 'x', v: 1 },
      { bn: 'b:', bu: 'A', bt: 0, n: 'x', v: 2, t: -1 },
    ],
    [
      ['a:x', 'V', receivedAt + 100_000, 1],
      ['b:x', 'A', receivedAt - 1_000, 2],
    ],
  ],
  [
    'base value and base sum are added',
    [{ bn: 'm', bv: 20, bs: 100, v: 0.5, s: 1 }, { v: 1 }, { s: 2 }],
    [
      ['m', null, receivedAt, 20.5, 101],
      ['m', null, receivedAt, 21],
      ['m', null, receivedAt, null, 102],
    ],
  ],
  [
    'strings, flags and bytes; unknown labels are ignored',
    [
      { n: 's', vs: 'a', foo: 1 },
      { n: 'b', vb: false },
      { n: 'd', vd: 'aGkgCg' },
    ],
    [
      ['s', null, receivedAt, 'a'],
      ['b', null, receivedAt, false],
      ['d', null, receivedAt, '6869200a'],
    ],
  ],
])('%s', (_, pack, expected) => {
  expect(shown(pack)).toEqual(expected);
});

test.each<[string, Json]>([
  ['must be an array', {}],
  ['record 0 is not an object', [1]],
  ['unsupported mandatory field', [{ n: 'a', v: 1, must_: 1 }]],
  ['more than one value', [{ n: 'a', v: 1, vs: 'x' }]],
  ['has no value', [{ n: 'a' }]],
  ['has the invalid name ""', [{ v: 1 }]],
  ['has the invalid name ":a"', [{ n: ':a', v: 1 }]],
  ['has the invalid name "a b"', [{ n: 'a b', v: 1 }]],
  ['has version 11', [{ bver: 11, n: 'a', v: 1 }]],
  [
    'must not change the version',
    [
      { bver: 10, n: 'a', v: 1 },
      { bver: 9, n: 'b', v: 1 },
    ],
  ],
  ['v must be a number', [{ n: 'a', v: '1' }]],
  ['n must be a string', [{ n: 1, v: 1 }]],
  ['vb must be a boolean', [{ n: 'a', vb: 1 }]],
  ['vd must be base64url', [{ n: 'a', vd: '!' }]],
  ['out of range', [{ n: 'a', v: 1, t: 1e15 }]],
])('a pack is refused: %s', (reason, pack) => {
  expect(() => resolved(pack, receivedAt)).toThrow(reason);
});

describe('CBOR', () => {
  const numbered = new Map<number | string, unknown>([
    [-2, 'dev:'],
    [-3, 1_276_020_076],
    [0, 'temp'],
    [1, 'Cel'],
    [2, 23.5],
  ]);

  test('labels are numbers, and byte strings are bytes', () => {
    const bytes = encode([
      numbered,
      new Map<number, unknown>([
        [0, 'raw'],
        [8, Buffer.from('hi')],
      ]),
    ]);
    expect(shown(parseSenmlCbor(bytes))).toEqual([
      ['dev:temp', 'Cel', 1_276_020_076_000, 23.5],
      ['dev:raw', null, 1_276_020_076_000, '6869'],
    ]);
  });

  test('a string label that unsupported mandatory field refuses the pack', () => {
    const bytes = encode([new Map<number | string, unknown>([...numbered, ['x_', 1]])]);
    expect(() => resolved(parseSenmlCbor(bytes), receivedAt)).toThrow(
      'unsupported mandatory field',
    );
  });

  test('bytes that were changed anywhere are a pack or a problem', () => {
    const good = encode([
      numbered,
      new Map<number, unknown>([
        [0, 'a'],
        [3, 'x'],
      ]),
    ]);
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), fc.nat(3), (at, byte, cut) => {
        const bytes = Buffer.from(good.subarray(0, good.length - cut));
        if (at < bytes.length) bytes[at] = byte;
        try {
          resolved(parseSenmlCbor(bytes), receivedAt);
        } catch (error) {
          expect(error).toBeInstanceOf(Problem);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

const name = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9:./_-]{0,20}$/);
const value = fc.oneof(
  fc.record({ v: fc.integer() }),
  fc.record({ vs: fc.string() }),
  fc.record({ vb: fc.boolean() }),
);
const record = fc.tuple(name, value, fc.integer({ min: -1_000, max: 1_000 }));

test('a pack says the same resolved, with base fields, and in CBOR', () => {
  const numbers = { bn: -2, bt: -3, n: 0, v: 2, vs: 3, vb: 4, t: 6 };
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 8 }), name, (records, base) => {
      const bt = 1_700_000_000;
      const plain = records.map(([n, one, t]) => ({ n: base + n, t: bt + t, ...one }));
      const based = records.map(([n, one, t], i) => ({
        ...(i === 0 && { bn: base, bt }),
        n,
        t,
        ...one,
      }));
      const numbered = based.map(
        (one) =>
          new Map(
            Object.entries(one).map(([key, of]) => [numbers[key as keyof typeof numbers], of]),
          ),
      );
      const expected = shown(plain);
      expect(shown(based)).toEqual(expected);
      expect(shown(parseSenmlCbor(encode(numbered)))).toEqual(expected);
    }),
  );
});

test('prefixes are the longest first, and the rest is the key', () => {
  expect(prefixesOf('urn:dev:ow:1/temp')).toEqual([
    'urn:dev:ow:1/temp',
    'urn:dev:ow:1',
    'urn:dev:ow',
    'urn:dev',
    'urn',
  ]);
  expect(keyBehind('urn:dev:ow:1/temp/oil', 'urn:dev:ow:1')).toBe('temp.oil');
  expect(keyBehind('urn:dev:ow:1', 'urn:dev:ow:1')).toBe('value');
});

test('values of one instant are one sample with units; the same name twice is two', () => {
  const pack = [
    { bn: 'd:', bt: 1_700_000_000, n: 't', u: 'Cel', v: 1 },
    { n: 'h', u: '%RH', v: 2, s: 9 },
    { n: 't', v: 3 },
    { n: 't', v: 4, t: -1 },
  ];
  const { values: found } = resolved(pack, receivedAt);
  const values = found.map((of) => ({ key: keyBehind(of.name, 'd'), of }));
  expect(allSteps(samplesOfValues(values))).toEqual([
    { timestamp: receivedAt - 1_000, data: { t: 4 }, meta: undefined },
    {
      timestamp: receivedAt,
      data: { t: 1, h: 2, 'h.sum': 9 },
      meta: { units: { t: 'Cel', h: '%RH' } },
    },
    { timestamp: receivedAt, data: { t: 3 }, meta: undefined },
  ]);
});
