// Line reader: the grammar of line protocol, written points read back, and broken lines.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLineReader, type FieldValue, isFault, lineTexts, seriesOf } from './line-reader.ts';

interface ReadPoint {
  readonly measurement: string;
  readonly tags: Record<string, string>;
  readonly fields: Record<string, FieldValue>;
  readonly time: string;
  readonly line: number;
}

/** Points as objects, and the reasons of faults as strings. */
function readAll(text: string, texts: Iterable<string> = [text]): (ReadPoint | string)[] {
  const reader = createLineReader(texts);
  const all: (ReadPoint | string)[] = [];
  for (let read = reader.next(); read !== undefined; read = reader.next()) {
    const series = isFault(read) ? read : seriesOf(read.series);
    if (isFault(read)) all.push(read.reason);
    else if (isFault(series)) all.push(series.reason);
    else {
      const fields = Object.fromEntries(read.keys.map((key, i) => [key, read.values[i]!]));
      const { measurement, tags } = series;
      const names = { measurement, tags: Object.fromEntries(tags) };
      all.push({ ...names, fields, time: read.timestamp, line: reader.line() });
    }
  }
  return all;
}

const point = (fields: Record<string, FieldValue>, more: Partial<ReadPoint> = {}) => ({
  measurement: 'm',
  tags: {},
  fields,
  time: '',
  line: 1,
  ...more,
});

describe('a line', () => {
  test.each<[string, ReadPoint | string]>([
    ['m v=1', point({ v: 1 })],
    ['  m   v=1  12  ', point({ v: 1 }, { time: '12' })],
    ['m v=1\r', point({ v: 1 })],
    [
      'm,host=a,room=b v=1,w=2 5',
      point({ v: 1, w: 2 }, { tags: { host: 'a', room: 'b' }, time: '5' }),
    ],
    ['m v=1.,w=.5,x=1E+2,y=-3,z=+4', point({ v: 1, w: 0.5, x: 100, y: -3, z: 4 })],
    ['m v=1i,w=-9223372036854775808i,x=1u', point({ v: 1, w: '-9223372036854775808', x: 1 })],
    ['m a=t,b=T,c=true,d=True,e=TRUE', point({ a: true, b: true, c: true, d: true, e: true })],
    [
      'm a=f,b=F,c=false,d=False,e=FALSE',
      point({ a: false, b: false, c: false, d: false, e: false }),
    ],
    ['m v=1,v=2', point({ v: 2 })],
    ['m v="a,b=c \\"d\\" \\\\ \\n"', point({ v: 'a,b=c "d" \\ \\n' })],
    ['m v="a\nb" 7', point({ v: 'a\nb' }, { time: '7' })],
    ['a\\,b\\ c v=1', point({ v: 1 }, { measurement: 'a,b c' })],
    ['a\\=b v=1', point({ v: 1 }, { measurement: 'a\\=b' })],
    ['m,a\\=b\\,c=d\\ e v=1', point({ v: 1 }, { tags: { 'a=b,c': 'd e' } })],
    ['m v\\ \\=\\,w=1', point({ 'v =,w': 1 })],
    ['m v\\="x=1', point({ 'v="x': 1 })],
    ['"m",a="b" "v"=1', point({ '"v"': 1 }, { measurement: '"m"', tags: { a: '"b"' } })],
    ['m v=1 -5', point({ v: 1 }, { time: '-5' })],
    ['m v=NaN', 'invalid field value'],
    ['m v=Inf', 'invalid field value'],
    ['m v=1e999', 'invalid field value'],
    ['m v=0x1', 'invalid field value'],
    ['m v=1.5i', 'invalid field value'],
    ['m v=9223372036854775808i', 'invalid field value'],
    ['m v=-1u', 'invalid field value'],
    ['m v=tRUE', 'invalid field value'],
    ['m v="x"y', 'invalid field value'],
    ['m v="x', 'unbalanced quotes'],
    ['m v=', 'missing field value'],
    ['m v', 'missing field value'],
    ['m =1', 'missing field key'],
    ['m v=1,', 'missing field key'],
    ['m', 'missing fields'],
    [',a=b v=1', 'missing measurement'],
    ['m,=b v=1', 'missing tag key'],
    ['m,a= v=1', 'missing tag value'],
    ['m,host v=1', 'missing tag value'],
    ['m,a=b=c v=1', 'invalid tag format'],
    ['m,a=b,a=c v=1', 'duplicate tags'],
  ])('%s', (line, expected) => {
    expect(readAll(line)).toEqual([expected]);
  });

  test('empty lines and comments are skipped, and lines are counted with those in strings', () => {
    const text = '\n# it\'s "odd\nm v=1\n\n  # more\nm v="a\n\nb"\nm v=x\nm v=3\n';
    expect(readAll(text)).toEqual([
      point({ v: 1 }, { line: 3 }),
      point({ v: 'a\n\nb' }, { line: 6 }),
      'invalid field value',
      point({ v: 3 }, { line: 10 }),
    ]);
  });

  test('a string without an end does not take further lines', () => {
    expect(readAll('m v="a\nm v=1')).toEqual(['unbalanced quotes', point({ v: 1 }, { line: 2 })]);
  });
});

// A backslash before a comma in a name looks like an escaped comma.
const name = fc.stringMatching(/^[^\\\p{Cc}]+$/u).filter((text) => !text.startsWith('#'));
const value = fc.oneof(
  // -0 is written as 0.
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
  fc.boolean(),
  fc.string(),
  fc.constantFrom('a\nb', 'say "hi"', 'C:\\x\\', '#', '=",'),
);
const anyPoint = fc.record({
  measurement: name,
  tags: fc.dictionary(name, name, { maxKeys: 4, noNullPrototype: true }),
  fields: fc.dictionary(name, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
  time: fc.oneof(fc.constant(''), fc.integer().map(String)),
});
type AnyPoint = typeof anyPoint extends fc.Arbitrary<infer P> ? P : never;

const escaped = (text: string) => text.replaceAll(/[,= ]/g, '\\$&');
const written = (one: FieldValue) =>
  typeof one === 'string' ? `"${one.replaceAll(/["\\]/g, '\\$&')}"` : String(one);

function lineOf({ measurement, tags, fields, time }: AnyPoint): string {
  const key = measurement.replaceAll(/[, ]/g, '\\$&');
  const named = Object.entries(tags).map(([tag, text]) => `,${escaped(tag)}=${escaped(text)}`);
  const values = Object.entries(fields).map(([field, one]) => `${escaped(field)}=${written(one)}`);
  return `${key}${named.join('')} ${values.join(',')} ${time}`;
}

test('written points are read as they were, with any names and strings', () => {
  fc.assert(
    fc.property(fc.array(anyPoint, { maxLength: 5 }), (points) => {
      const read = readAll(points.map(lineOf).join('\n'));
      const expected = points.map(({ time, fields, ...names }) => ({ ...names, fields, time }));
      expect(
        read.map((one) => (typeof one === 'string' ? one : { ...one, line: undefined })),
      ).toEqual(expected.map((one) => ({ ...one, line: undefined })));
    }),
    { numRuns: 500 },
  );
});

test('a line that was changed anywhere is read to its end, and the lines around it stay good', () => {
  const piece = fc.constantFrom('"', '\\', ',', '=', ' ', '#', '\t', '\0', 'é', '1', '-', '');
  fc.assert(
    fc.property(anyPoint, fc.nat(), fc.nat(3), piece, (one, place, length, inserted) => {
      const line = lineOf(one).replaceAll('\n', '_');
      const at = place % (line.length + 1);
      const changed = line.slice(0, at) + inserted + line.slice(at + length);
      const read = readAll(`first v=1\n${changed}\n`);
      expect(read[0]).toEqual(point({ v: 1 }, { measurement: 'first' }));
      expect(read.length).toBeLessThanOrEqual(2);
    }),
    { numRuns: 2_000 },
  );
});

test('a body in chunks of any length reads as the whole text', () => {
  const chunkBytes = fc.integer({ min: 1, max: 60 });
  const bytesMin = fc.integer({ min: 1, max: 100 });
  const open = fc.constantFrom('m v="a', 'm v="a\nb",w="c', 'm v=1 5', '# "', '', 'm v="\\"');
  const line = fc.oneof(anyPoint.map(lineOf), open);
  fc.assert(
    fc.property(fc.array(line), chunkBytes, bytesMin, (lines, length, least) => {
      const text = lines.join('\n');
      const bytes = Buffer.from(text);
      const chunks = Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) =>
        bytes.subarray(i * length, (i + 1) * length),
      );
      const texts = [...lineTexts(chunks, least)];
      expect(texts.join('')).toBe(bytes.toString());
      expect(readAll(text, texts)).toEqual(readAll(bytes.toString()));
    }),
    { numRuns: 1_000 },
  );
});
