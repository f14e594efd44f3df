// Sample groups say of a body what the reader of JSON arrays says, with samples of one form as columns.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject, type Json } from '../../model/json.ts';
import { BrokenJson, jsonArrayGroups, jsonLineGroups } from './json-groups.ts';
import {
  elementsOf,
  isColumns,
  type SampleGroup,
  sampleGroups,
  sampleLineGroups,
} from './sample-groups.ts';

const limits = { groupBytes: 400, groupElementsMax: 5, elementBytesMax: 300, depthMax: 8 };

async function* cut(body: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, i = 0; at < body.length; i++) {
    const size = sizes[i % sizes.length] ?? body.length;
    yield body.subarray(at, at + size);
    at += size;
  }
}

/** All elements, with times as numbers, and how the body breaks. */
async function readAll(
  groups: AsyncIterable<SampleGroup>,
): Promise<{ all: Json[]; broken: unknown; inColumns: number; groups: string[] }> {
  const all: Json[] = [];
  const found: string[] = [];
  let inColumns = 0;
  try {
    for await (const group of groups) {
      const elements = isColumns(group) ? elementsOf(group) : group;
      all.push(...elements);
      found.push(JSON.stringify(elements));
      if (isColumns(group)) inColumns += group.length;
    }
  } catch (error) {
    if (!(error instanceof BrokenJson)) throw error;
    return { all, broken: { ...error.place, message: error.message }, inColumns, groups: found };
  }
  return { all, broken: undefined, inColumns, groups: found };
}

/** With times as numbers and members in one order; that of data keys stays. */
function comparable(elements: readonly Json[]): string {
  return JSON.stringify(
    elements.map((element) => {
      if (!isJsonObject(element) || !('timestamp' in element)) return element;
      const { timestamp, topic, data: values } = element;
      const at = typeof timestamp === 'string' ? Date.parse(timestamp) : timestamp;
      return { at, topic, values };
    }),
  );
}

const first = Date.UTC(2026, 0, 5);
const data = fc.oneof(
  fc.record({ t: fc.integer().map((n) => n / 10), on: fc.boolean(), label: fc.string() }),
  fc.record({ t: fc.constantFrom(1, 2.5, -0.25), inner: fc.record({ n: fc.integer() }) }),
  fc.constantFrom<Json>({}, { a: null }, { list: [1, 2] }, { a: { b: { c: [] } } }),
);
const element = fc.oneof(
  { weight: 6, arbitrary: fc.record({ timestamp: fc.nat().map((ms) => first + ms), data }) },
  {
    weight: 3,
    arbitrary: fc.record({
      timestamp: fc.nat().map((ms) => new Date(ms).toISOString()),
      topic: fc.constantFrom('a', 'b'),
      data,
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Json>(1, 'text', [], { timestamp: 'x', data: {} }) },
);
const alike = fc
  .record({ count: fc.nat(40), start: fc.nat().map((ms) => first + ms) })
  .map(({ count, start }) =>
    Array.from({ length: count }, (_, i) => ({ timestamp: start + i, data: { n: i, on: true } })),
  );
const spoiled = fc.constantFrom('', ' ', 'x', ',', ']', '1', '}');

test('property: the same elements and the same breaks, however the body is cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.array(element, { maxLength: 12 }), alike),
      fc.constantFrom(undefined, 1, 2),
      fc.record({ head: fc.constantFrom('', '\ufeff', ' ', 'x'), tail: spoiled, within: spoiled }),
      fc.record({
        sizes: fc.array(fc.integer({ min: 1, max: 120 }), { minLength: 1, maxLength: 4 }),
        place: fc.nat(),
      }),
      async (elements, spaces, { head, tail, within }, { sizes, place }) => {
        const text = JSON.stringify(elements, undefined, spaces);
        const at = place % (text.length + 1);
        const body = Buffer.from(`${head}${text.slice(0, at)}${within}${text.slice(at)}${tail}`);
        const expected = await readAll(jsonArrayGroups(cut(body, sizes), limits));
        const found = await readAll(sampleGroups(cut(body, sizes), 'free', limits));
        expect(comparable(found.all)).toBe(comparable(expected.all));
        expect(found.broken).toEqual(expected.broken);
      },
    ),
    { numRuns: 3_000 },
  );
});

const blank = fc.constantFrom('', ' ', '\t\r', '\r', '\n\n');
const lineBreak = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom('\n', '\r\n') },
  { weight: 1, arbitrary: blank.map((line) => `\n${line}\n`) },
  { weight: 1, arbitrary: fc.constantFrom(',', '\r', ' ', '\nx\n') },
);
const longLine = { timestamp: first, data: { label: 'x'.repeat(limits.elementBytesMax) } };
const line = fc.oneof(
  { weight: 30, arbitrary: element.map((value) => JSON.stringify(value)) },
  // Not one line, in spite of all brackets.
  { weight: 1, arbitrary: element.map((value) => JSON.stringify(value, undefined, 1)) },
  { weight: 1, arbitrary: fc.constant(JSON.stringify(longLine)) },
);

test('property: lines give the same elements and the same breaks, however the body is cut', async () => {
  let asColumns = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.array(line, { maxLength: 12 }),
        alike.map((all) => all.map((one) => JSON.stringify(one))),
      ),
      fc.array(lineBreak, { minLength: 1, maxLength: 12 }),
      fc.record({
        head: fc.constantFrom('', '', '\ufeff', '\n', ' \r\n'),
        tail: fc.constantFrom('', '\n', '\r\n', '\n\n', ' ', '\nx', '{'),
        within: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, spoiled, blank),
      }),
      fc.record({
        sizes: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 4 }),
        place: fc.nat(),
      }),
      async (lines, breaks, { head, tail, within }, { sizes, place }) => {
        const text = lines.reduce((all, one, i) => all + breaks[i % breaks.length]! + one, '');
        const whole = text.slice(lines.length > 0 ? breaks[0]!.length : 0);
        const at = place % (whole.length + 1);
        const body = Buffer.from(`${head}${whole.slice(0, at)}${within}${whole.slice(at)}${tail}`);
        const expected = await readAll(jsonLineGroups(cut(body, sizes), limits));
        const found = await readAll(sampleLineGroups(cut(body, sizes), 'free', limits));
        expect(comparable(found.all)).toBe(comparable(expected.all));
        expect(found.broken).toEqual(expected.broken);
        asColumns += found.inColumns;
      },
    ),
    { numRuns: 3_000 },
  );
  expect(asColumns).toBeGreaterThan(3_000);
});

test('property: fixed groups are those of parsed elements, however the body is cut', async () => {
  let asColumns = 0;
  const plain = alike.map((all) => all.map((one) => ({ ...one, deviceId: `d${one.timestamp}` })));
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(plain, alike, fc.array(element, { maxLength: 12 })),
      fc.constantFrom(undefined, 1),
      fc.constantFrom('', '', 'x', ','),
      fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 4 }),
      async (elements, spaces, broken, sizes) => {
        const array = JSON.stringify(elements, undefined, spaces);
        const lines = elements
          .map((one) => JSON.stringify(one))
          .join(spaces === 1 ? ' \r\n' : '\n');
        for (const [text, parsed, scanned] of [
          [`${array.slice(0, -1)}${broken}]`, jsonArrayGroups, sampleGroups],
          [`${lines}\n${broken}`, jsonLineGroups, sampleLineGroups],
        ] as const) {
          const whole = Buffer.from(text);
          const expected = await readAll(parsed(cut(whole, [whole.length]), limits));
          const found = await readAll(scanned(cut(whole, sizes), 'fixed', limits));
          expect(found.groups).toEqual(expected.groups);
          expect(found.broken).toEqual(expected.broken);
          asColumns += found.inColumns;
        }
      },
    ),
    { numRuns: 1_000 },
  );
  expect(asColumns).toBeGreaterThan(5_000);
});

test('samples of one form come as columns, in groups as large as those of parsed elements', async () => {
  const elements = Array.from({ length: 12 }, (_, i) => ({
    timestamp: first + i,
    data: { n: i / 10 },
  }));
  const groups: SampleGroup[] = [];
  for await (const group of sampleGroups(
    cut(Buffer.from(JSON.stringify(elements)), [50]),
    'free',
    limits,
  ))
    groups.push(group);
  expect(groups.map((group) => [isColumns(group), group.length])).toEqual([
    [true, 5],
    [true, 5],
    [true, 2],
  ]);
});
