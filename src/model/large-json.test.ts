// Large JSON: the same values and messages as the parser, for every division of the document, in short turns.
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isExact, jsonInSteps, keysOfKnown, parseJsonText, parseReadings } from './json-keys.ts';
import type { Json, JsonObject } from './json.ts';
import { parseLargeJson } from './large-json.ts';

/** A gap that is longer than what is parsed at once. */
const gap = ' '.repeat(300_000);
const big = JSON.stringify(Array.from({ length: 20_000 }, (_, i) => ({ i, text: `"[{\\ü ${i}` })));

async function outcome(read: () => unknown): Promise<unknown> {
  try {
    const value = await read();
    return { value, text: JSON.stringify(value) };
  } catch (error) {
    return (error as Error).message;
  }
}

async function expectSame(text: string): Promise<void> {
  const bytes = Buffer.from(text);
  expect(await outcome(() => parseLargeJson(bytes))).toEqual(
    await outcome(() => parseJsonText(text)),
  );
}

test.each([
  ['an array', big],
  ['behind a byte order mark', `\ufeff${big}`],
  ['a large member of an object', `{"a":1,"b":{"c":${big},"d":[]},"e":${big},"a":2}`],
  [
    'keys that are numbers or the prototype',
    `{"__proto__":${big},"2":1,"1":${big},"x":{"__proto__":{"y":1}}}`,
  ],
  ['a long string', `["${'\\"'.repeat(400_000)}", "${'x'.repeat(400_000)}"]`],
  ['a string alone', `"${'x'.repeat(400_000)}"`],
  ['empty containers in gaps', `[${gap}[${gap}],${gap}{${gap}}${gap}]${gap}`],
  ['64 levels', '['.repeat(63) + big.slice(0, -1).replace('[', '[') + ']' + ']'.repeat(63)],
  ['an unknown word in the middle', big.replace('{"i":9000,', '{"i":nine,')],
  ['a comma too many at the end', `${big.slice(0, -1)},]`],
  ['a comma too many in the middle', big.replace('{"i":9000,', ',{"i":9000,')],
  ['a comma missing behind a large member', `[${big} ${big}]`],
  ['a value before a large member', `{"a":1${big}}`],
  ['a large member without a key', `{${big}}`],
  ['a key in an array', `["a":${big}]`],
  ['the wrong bracket', `[${big}}`],
  ['the wrong bracket in a small member', big.replace('{"i":9000,', '{"i":[9000},')],
  ['no end', big.slice(0, -1)],
  ['no end of a string', `[${big},"x`],
  ['more behind the end', `${big} x`],
  ['65 levels', '['.repeat(64) + big + ']'.repeat(64)],
  ['too deep behind what is wrong', `[nothing, ${big}, ${'['.repeat(70)}`],
  ['nothing but gaps', gap],
])('security: %s is read like by the parser', async (_, text) => {
  await expectSame(text);
});

test('security: any JSON between large members is read like by the parser', async () => {
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), fc.json({ maxDepth: 4 }), async (one, other) => {
      await expectSame(
        `{"a":${one},"b":[${gap}${one},${gap}{"c":${one}${gap},"d":${other}}${gap}]}`,
      );
    }),
    { numRuns: 40 },
  );
});

test('security: 32 MiB are parsed in turns of the event loop that are short', async () => {
  const bytes = Buffer.from(`[${Array.from({ length: 25 }, () => big).join(',')}]`);
  let isOver = false;
  let turns = 0;
  const counting = (async () => {
    for (; !isOver; turns++) await nextTurn();
  })();
  expect(await parseLargeJson(bytes)).toHaveLength(25);
  isOver = true;
  await counting;
  // In one turn it takes hundreds of milliseconds.
  expect(turns).toBeGreaterThan(10);
});

test('security: a string that the parser would take too long for is refused', async () => {
  const bytes = Buffer.alloc(20 * 1024 * 1024, 'x');
  bytes.write('["');
  await expect(parseLargeJson(bytes)).rejects.toThrow('longer than 16777216 bytes');
});

test('contract 42: readings keep integers beyond 2^53 as texts in every group of members', async () => {
  const filler = Array.from({ length: 20_000 }, (_, i) => `"k${i}":{"n":9007199254740993}`);
  const text = `{"first":9007199254740993,${filler.join(',')},"list":[${'1,'.repeat(100_000)}9007199254740993]}`;
  const value = (await parseLargeJson(Buffer.from(text), parseReadings)) as JsonObject;
  expect(value).toEqual(parseReadings(text));
  expect(isExact(value, 'first')).toBe(true);
  expect(isExact(value['k19999'] as object, 'n')).toBe(true);
  expect(isExact(value['list'] as object, '100000')).toBe(true);
});

/** What work in steps returns, and how many steps it took. */
function whole<T>(work: Generator<undefined, T>): { readonly value: T; readonly steps: number } {
  for (let steps = 1; ; steps++) {
    const step = work.next();
    if (step.done === true) return { value: step.value, steps };
  }
}

const many = (count: number, name = 'key') =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`${name}${i}`, i]));

test.each<readonly [string, Json]>([
  ['an object', many(30_000)],
  ['an object in an object', { a: 1, b: { c: many(30_000), d: [] }, e: 'x' }],
  ['an array of objects', Array.from({ length: 20_000 }, (_, i) => ({ i }))],
  ['objects in an array', [1, many(20_000), many(20_000, 'other'), { small: null }]],
])('security 4: JSON of %s is written in steps', async (_, value) => {
  const text = JSON.stringify(value);
  const read = await parseLargeJson(Buffer.from(text));
  const written = whole(jsonInSteps(read));
  expect(written.value.join('')).toBe(text);
  expect(written.steps).toBeGreaterThan(10);
});

test('security 4: the keys of large objects are known from the parser, each once', async () => {
  const text = `{"twice":1,${JSON.stringify(many(20_000)).slice(1, -1)},"twice":2,"__proto__":3}`;
  const read = (await parseLargeJson(Buffer.from(text))) as JsonObject;
  expect(keysOfKnown(read)).toEqual(Object.keys(read));
  expect(keysOfKnown(JSON.parse(text) as object)).toBeUndefined();
});
