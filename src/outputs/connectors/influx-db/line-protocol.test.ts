// Lines for InfluxDB: what is written is read back by a reader that follows the format's own description.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineOf } from './influx-db.ts';

/**
 * Splits where `at` stands unescaped; with `quotes` also outside of quoted values, which begin
 * after an equals sign.
 */
function splitAt(text: string, at: string, quotes: boolean): string[] {
  const parts = [''];
  let quoted = false;
  let inValue = false;
  for (let i = 0; i < text.length; i++) {
    const sign = text[i]!;
    if (sign === '\\') parts[parts.length - 1] += sign + (text[++i] ?? '');
    else if (sign === at && !quoted) parts.push('');
    else parts[parts.length - 1] += sign;
    if (quotes && sign === '"' && inValue) quoted = !quoted;
    if (sign === '=' && !quoted) inValue = true;
    if (sign === ',' && !quoted) inValue = false;
  }
  return parts;
}

const unescaped = (text: string) => text.replaceAll(/\\([,= ])/g, '$1');

function readLine(line: string) {
  const [series = ''] = splitAt(line, ' ', false);
  const [fields = '', time] = splitAt(line.slice(series.length + 1), ' ', true);
  const [measurement = '', ...tags] = splitAt(series, ',', false);
  const pairs = (list: readonly string[], quotes: boolean) =>
    list.map((pair) => splitAt(pair, '=', quotes) as [string, string]);
  return {
    measurement: unescaped(measurement),
    tags: Object.fromEntries(
      pairs(tags, false).map(([name, value]) => [unescaped(name), unescaped(value)]),
    ),
    fields: Object.fromEntries(
      pairs(splitAt(fields, ',', true), true).map(([name, value]) => [
        unescaped(name),
        valueOf(value),
      ]),
    ),
    time,
  };
}

function valueOf(text: string): unknown {
  if (text.startsWith('"')) return text.slice(1, -1).replaceAll(/\\(["\\])/g, '$1');
  return text === 'true' || text === 'false' ? text === 'true' : Number(text);
}

/** Names as the platform lets them through, with every sign that means something in a line. */
const name = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', ',', '=', ' ', '"', '#', '.'),
  minLength: 1,
  maxLength: 8,
});
const value = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '"', '\\', ',', '=', ' ', '\n') }),
  fc.boolean(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

describe('line protocol', () => {
  test('every name and value is read back as it was', () => {
    fc.assert(
      fc.property(
        name,
        fc.dictionary(name, name),
        fc.dictionary(name, value, { minKeys: 1 }),
        (measurement, tags, fields) => {
          const line = lineOf({ measurement, tags, fields, epochMs: 5 });
          const negativeZero = Object.fromEntries(
            Object.entries(fields).map(([key, each]) => [key, each === 0 ? 0 : each]),
          );
          expect(readLine(line ?? '')).toEqual({
            measurement,
            tags,
            fields: negativeZero,
            time: '5',
          });
        },
      ),
      { numRuns: 500 },
    );
  });

  for (const [title, fields, expected] of [
    ['nested data', { a: { b: [1, { c: true }] } }, 'm a.b.0=1,a.b.1.c=true 5'],
    ['null', { a: null, b: 2 }, 'm b=2 5'],
    ['no field', { a: null, b: {}, c: [] }, undefined],
    ['whole numbers like others', { a: 1e21, b: -3 }, 'm a=1e+21,b=-3 5'],
    [
      'line breaks in names, not in texts',
      { 'a\nb': 'c\nd' },
      'm a b="c\nd" 5'.replace('a b', 'a\\ b'),
    ],
  ] as const) {
    test(`${title}: ${expected}`, () => {
      expect(lineOf({ measurement: 'm', tags: {}, fields, epochMs: 5 })).toBe(expected);
    });
  }

  test('a trailing backslash and empty tags are omitted, a missing time is the server', () => {
    const tags = { 'a\\': 'b\\\\', empty: '', only: '\\' };
    expect(lineOf({ measurement: 'm', tags, fields: { v: 1 }, epochMs: undefined })).toBe(
      'm,a=b v=1',
    );
  });
});
