// The line reader equals JSON.parse of each line, with any chunks and any damage.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseReadings } from '../../model/json-keys.ts';
import type { Json } from '../../model/json.ts';
import {
  BrokenJson,
  jsonGroupLimits,
  type JsonGroupLimits,
  jsonLineGroups,
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
  readonly groups: readonly (readonly Json[])[];
  readonly values: readonly Json[];
  readonly broken: BrokenJson | undefined;
}

async function read(
  body: string | Buffer,
  cuts: readonly number[] = [],
  limits?: Partial<JsonGroupLimits>,
): Promise<Read> {
  const groups: (readonly Json[])[] = [];
  let broken: BrokenJson | undefined;
  const all = { ...jsonGroupLimits, ...limits };
  try {
    for await (const group of jsonLineGroups(cut(Buffer.from(body), cuts), all)) {
      expect(group.length).toBeGreaterThan(0);
      groups.push(group);
    }
  } catch (error) {
    if (!(error instanceof BrokenJson)) throw error;
    broken = error;
  }
  return { groups, values: groups.flat(), broken };
}

/** What each line is by itself, up to the first that is not valid. */
function expected(text: string): { values: Json[]; line: number | undefined } {
  const values: Json[] = [];
  for (const [i, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (/^[ \t\r]*$/.test(line)) continue;
    try {
      values.push(parseReadings(line));
    } catch {
      return { values, line: i + 1 };
    }
  }
  return { values, line: undefined };
}

const cuts = fc.array(fc.nat(2_000), { maxLength: 12 });
const small = fc.record({
  groupElementsMax: fc.integer({ min: 1, max: 5 }),
  groupBytes: fc.integer({ min: 1, max: 200 }),
});
const line = fc.oneof(
  { weight: 6, arbitrary: fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value)) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: fc.constantFrom('', ' ', '\t\r', '\r') },
);
const odd = fc.constantFrom('[1', '2]', '3,4', '{', '"', 'nux', '\ufeff1', '1}', '\\', '[1]]');
const linesText = (lines: fc.Arbitrary<string>) =>
  fc
    .tuple(
      fc.constantFrom('', '\ufeff'),
      fc.array(lines, { maxLength: 12 }),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom('', '\n'),
    )
    .map(([mark, all, between, last]) => mark + all.join(between) + last);

test('contract 37: lines cut at random places are what JSON.parse makes of each of them', async () => {
  await fc.assert(
    fc.asyncProperty(linesText(line), cuts, small, async (text, places, limits) => {
      const { values, broken } = await read(text, places, limits);
      expect(broken).toBeUndefined();
      expect(values).toEqual(expected(text).values);
    }),
    { numRuns: 1_000 },
  );
});

test('contract 37: lines that are not valid break the body at their line, after the values before', async () => {
  const mixed = fc.oneof({ weight: 5, arbitrary: line }, { weight: 1, arbitrary: odd });
  await fc.assert(
    fc.asyncProperty(linesText(mixed), cuts, small, async (text, places, limits) => {
      const { values, broken } = await read(text, places, limits);
      const wanted = expected(text);
      expect(values).toEqual(wanted.values);
      expect(broken?.place.line).toBe(wanted.line);
      if (broken === undefined) return;
      expect(broken.place.index).toBe(values.length);
      const before = Buffer.from(text).subarray(0, broken.place.byte).toString();
      expect(before.split('\n')).toHaveLength(wanted.line ?? 0);
    }),
    { numRuns: 1_000 },
  );
});

test('random bytes: the same values, groups and break, however they are cut', async () => {
  const bytes = fc.uint8Array({ maxLength: 300 }).map((each) => Buffer.from(each));
  const damaged = fc
    .tuple(linesText(line), fc.nat(2_000), bytes)
    .map(([text, at, some]) => Buffer.concat([Buffer.from(text).subarray(0, at), some]));
  await fc.assert(
    fc.asyncProperty(fc.oneof(bytes, damaged), cuts, small, async (body, places, limits) => {
      const inOne = await read(body, [], limits);
      const inPieces = await read(body, places, limits);
      expect(inPieces.groups).toEqual(inOne.groups);
      expect(inPieces.broken?.place).toEqual(inOne.broken?.place);
    }),
    { numRuns: 1_000 },
  );
});

describe('the error names the place', () => {
  for (const [text, index, lineNumber, byte, reason] of [
    ['1\n\n{"a" 2}\n3', 1, 3, 8, "Expected ':' after property name"],
    ['"é"\n{"ü" 2}', 1, 2, 11, "Expected ':' after property name"],
    ['1\n 2 3', 1, 2, 5, 'Unexpected non-whitespace character'],
    ['\ufeffnux', 0, 1, 3, 'Unexpected token'],
    ['{"a":1}\n{"a":', 1, 2, 8, 'Unexpected end of JSON input'],
  ] as const)
    test(JSON.stringify(text), async () => {
      const { values, broken } = await read(text, [1, 2, 3, 5, 8]);
      expect(values).toHaveLength(index);
      expect(broken).toMatchObject({
        place: { index, line: lineNumber, byte },
        message: expect.stringContaining(reason),
      });
    });
});

test('a line beyond its limit, ended or not, and one nested too deep break the body', async () => {
  for (const end of ['', '\n', '\n2\n']) {
    const long = await read(`1\n"${'x'.repeat(200)}"${end}`, [60, 90], { elementBytesMax: 50 });
    expect(long).toMatchObject({ values: [1], broken: { place: { index: 1, line: 2, byte: 2 } } });
  }
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  expect((await read(`1\n${nested(63)}`)).broken).toBeUndefined();
  expect(await read(`1\n${nested(64)}`)).toMatchObject({
    values: [1],
    broken: { place: { index: 1, line: 2 }, message: 'it nests deeper than 64 levels' },
  });
  expect((await read(nested(400_000))).broken).toMatchObject({ place: { index: 0, line: 1 } });
});

test('groups are bounded by count and by bytes; a flood of blank lines gives none', async () => {
  const numbers = Array.from({ length: 2_500 }, (_, i) => i).join('\n');
  expect((await read(numbers)).groups).toHaveLength(3);
  expect((await read(numbers, [], { groupBytes: 100 })).groups.length).toBeGreaterThan(50);
  expect(await read('\n'.repeat(300_000))).toMatchObject({ groups: [], broken: undefined });
});
