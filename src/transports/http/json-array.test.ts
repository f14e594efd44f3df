// The array splitter equals JSON.parse of the whole, for any cut of the chunks and any error.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseReadings } from '../../model/json-keys.ts';
import type { Json } from '../../model/json.ts';
import {
  BrokenJson,
  jsonArrayGroups,
  jsonGroupLimits,
  type JsonGroupLimits,
} from './json-groups.ts';

async function* cut(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  const places = [...new Set(cuts.map((each) => each % (bytes.length + 1)))].sort((a, b) => a - b);
  let from = 0;
  for (const place of [...places, bytes.length]) {
    yield bytes.subarray(from, place);
    from = place;
  }
}

interface Read {
  readonly elements: Json[];
  readonly groups: number;
  readonly broken: BrokenJson | undefined;
}

async function read(
  text: string | Buffer,
  cuts: readonly number[] = [],
  limits?: Partial<JsonGroupLimits>,
): Promise<Read> {
  const elements: Json[] = [];
  let groups = 0;
  try {
    for await (const group of jsonArrayGroups(cut(Buffer.from(text), cuts), {
      ...jsonGroupLimits,
      ...limits,
    })) {
      expect(group.length).toBeGreaterThan(0);
      elements.push(...group);
      groups++;
    }
  } catch (error) {
    if (!(error instanceof BrokenJson)) throw error;
    return { elements, groups, broken: error };
  }
  return { elements, groups, broken: undefined };
}

function parsed(text: string): Json | undefined {
  try {
    return parseReadings(text);
  } catch {
    return undefined;
  }
}

const cuts = fc.array(fc.nat(5_000), { maxLength: 12 });
const groupElementsMax = fc.integer({ min: 1, max: 5 });
const element = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('\\', '"', '\\"', '[', '},{'),
);
const arrayText = fc
  .tuple(fc.array(element, { maxLength: 12 }), fc.constantFrom(undefined, 1, '\t', '\r\n'))
  .map(([array, indent]) => JSON.stringify(array, undefined, indent));

test('random arrays cut at random places are those that JSON.parse makes of the whole', async () => {
  await fc.assert(
    fc.asyncProperty(arrayText, cuts, groupElementsMax, async (text, places, max) => {
      const { elements, broken } = await read(text, places, { groupElementsMax: max });
      expect(broken).toBeUndefined();
      expect(elements).toEqual(parseReadings(text));
    }),
    { numRuns: 1_500 },
  );
});

test('an array that is broken at a random place is refused exactly when JSON.parse refuses it, after a true beginning', async () => {
  const damage = fc.record({
    at: fc.nat(5_000),
    length: fc.nat(2),
    instead: fc.constantFrom('', ',', '"', '[', ']', '{', '}', '\\', ' ', '1', 'x', '\u0001'),
  });
  await fc.assert(
    fc.asyncProperty(
      arrayText,
      damage,
      cuts,
      groupElementsMax,
      async (whole, { at, length, instead }, places, max) => {
        const place = at % (whole.length + 1);
        // As bytes tell it: half a character becomes the replacement character.
        const text = Buffer.from(
          whole.slice(0, place) + instead + whole.slice(place + length),
        ).toString();
        const { elements, broken } = await read(text, places, { groupElementsMax: max });
        const value = parsed(text);
        if (Array.isArray(value)) {
          expect(broken).toBeUndefined();
          expect(elements).toEqual(value);
          return;
        }
        expect(broken).toBeInstanceOf(BrokenJson);
        expect(broken!.place.index).toBe(elements.length);
        expect(broken!.place.byte).toBeLessThanOrEqual(Buffer.byteLength(text));
        // What was given out is what stands before the break.
        if (elements.length > 0)
          // As JSON, because JSON.stringify writes -0 as 0, and 1.5e20 as the integer that a reading keeps as text.
          expect(JSON.stringify(JSON.parse(JSON.stringify(elements)))).toBe(
            JSON.stringify(elements),
          );
      },
    ),
    { numRuns: 3_000 },
  );
});

test('a number with an exponent stands before a break as the number that it is', async () => {
  const { elements, broken } = await read('[1.5e20, 15e19, x');
  expect(elements).toEqual([1.5e20, 1.5e20]);
  expect(broken?.place.index).toBe(2);
});

test('however it is cut, the same elements come before the same break', async () => {
  await fc.assert(
    fc.asyncProperty(arrayText, fc.nat(5_000), cuts, async (whole, at, places) => {
      const text = whole.slice(0, at % (whole.length + 1));
      const inOne = await read(text);
      const inPieces = await read(text, places, { groupElementsMax: 2 });
      expect(inPieces.elements).toEqual(inOne.elements);
      expect(inPieces.broken?.place.index).toBe(inOne.broken?.place.index);
      expect(inPieces.broken?.place.byte).toBe(inOne.broken?.place.byte);
    }),
    { numRuns: 1_000 },
  );
});

describe('the place of a break is reported', () => {
  for (const [text, count, byte, reason] of [
    ['', 0, 0, 'expected an array'],
    ['  ', 0, 2, 'expected an array'],
    ['{"a":1}', 0, 0, 'it must be a JSON array'],
    ['[1,2', 1, 4, 'the array is not terminated'],
    ['[1,2,]', 2, 5, 'unexpected end after a comma'],
    ['[1,,2]', 1, 3, 'Unexpected end of JSON input'],
    ['[1,{"a" 2},3]', 1, 8, "Expected ':' after property name"],
    ['["é",{"ü" 2}]', 1, 12, "Expected ':' after property name"],
    ['[1]]', 1, 3, 'unexpected data after the array'],
    ['[1}', 0, 2, 'unexpected closing brace'],
    ['[1, nux]', 1, 4, 'Unexpected token'],
  ] as const)
    test(JSON.stringify(text), async () => {
      const { elements, broken } = await read(text, [1, 2, 3, 5, 8]);
      expect(elements).toHaveLength(count);
      expect(broken).toMatchObject({
        place: { index: count, byte },
        message: expect.stringContaining(reason),
      });
    });
});

test('a byte order mark and white space around the array are passed over', async () => {
  for (const places of [[], [1, 2, 3, 4, 5, 6]])
    expect(await read('\ufeff\r\n [ 1 , 2 ] \n', places)).toMatchObject({
      elements: [1, 2],
      broken: undefined,
    });
  expect((await read(' \ufeff[1]')).broken).toMatchObject({ place: { index: 0, byte: 1 } });
});

test('an element beyond its limit, and one nested too deep, break the array after what came before', async () => {
  const long = await read(`[1,"${'x'.repeat(200)}",2]`, [60, 90, 150], { elementBytesMax: 50 });
  expect(long).toMatchObject({ elements: [1], broken: { place: { index: 1, byte: 3 } } });
  const deep = await read(`[1,${'['.repeat(100)}`);
  expect(deep).toMatchObject({
    elements: [1],
    broken: { place: { index: 1 }, message: 'it nests deeper than 64 levels' },
  });
});

test('groups are bounded by count and by bytes', async () => {
  const numbers = JSON.stringify(Array.from({ length: 2_500 }, (_, i) => i));
  expect((await read(numbers)).groups).toBe(3);
  expect((await read(numbers, [], { groupBytes: 100 })).groups).toBeGreaterThan(50);
});
