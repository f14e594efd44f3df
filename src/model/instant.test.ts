// Instants: read and written in the same way as a Date, for every instant that answers can express.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatInstant, isInstant, isWithin, parseInstant } from './instant.ts';

test('any moment of the years 0 to 9999', () => {
  const moment = fc.integer({
    min: Date.parse('0000-01-01T00:00:00Z'),
    max: Date.UTC(9999, 11, 31),
  });
  fc.assert(
    fc.property(moment.filter(isInstant), (ms) => {
      expect(formatInstant(ms)).toBe(new Date(ms).toISOString());
    }),
    { numRuns: 20_000 },
  );
});

test('the first and last millisecond of every day around leap years and centuries', () => {
  for (const year of [
    1582, 1600, 1700, 1899, 1900, 1969, 1970, 1999, 2000, 2023, 2024, 2026, 2100, 2400, 9999,
  ]) {
    for (let day = 0; day < 366; day++) {
      const start = Date.UTC(year, 0, 1 + day);
      for (const ms of [start, start + 86_399_999])
        if (isInstant(ms)) expect(formatInstant(ms)).toBe(new Date(ms).toISOString());
    }
  }
});

test('instants one after the other, within a second, a minute, an hour and a day', () => {
  const steps = fc.oneof(
    ...[1, 1_000, 60_000, 3_600_000, 86_400_000].map((step) =>
      fc.integer({ min: -step, max: step }),
    ),
  );
  fc.assert(
    fc.property(
      fc.integer({ min: Date.UTC(1950, 0), max: Date.UTC(2050, 0) }),
      fc.array(steps, { minLength: 1, maxLength: 50 }),
      (start, moves) => {
        let ms = start;
        for (const move of moves) {
          ms += move;
          expect(formatInstant(ms)).toBe(new Date(ms).toISOString());
        }
      },
    ),
  );
});

test('parts of a millisecond are cut off, as a Date does', () => {
  expect(formatInstant(1.9)).toBe('1970-01-01T00:00:00.001Z');
});

test.each([
  ['2022-05-25T17:36:22.000+00:00', '2022-05-25T17:36:22.000Z'],
  ['2022-05-25T17:36:22Z', '2022-05-25T17:36:22.000Z'],
  ['2022-05-25T17:36:22.123456789+0530', '2022-05-25T12:06:22.123Z'],
  ['2022-05-25T17:36-03', '2022-05-25T20:36:00.000Z'],
  ['2022-05-25', '2022-05-25T00:00:00.000Z'],
  ['0050-01-01T00:00:00Z', '0050-01-01T00:00:00.000Z'],
  ['0000-02-29T00:00:00Z', '0000-02-29T00:00:00.000Z'],
])('contract 0: %s is %s', (text, same) => expect(formatInstant(parseInstant(text)!)).toBe(same));

test.each([
  '',
  'now',
  '2022-02-30',
  '2022-13-01',
  '2022-05-25T24:00:00Z',
  '2022-05-25T17:36:60Z',
  '2022-05-25T17:36Z+1',
])('%j is no moment', (text) => expect(parseInstant(text)).toBeUndefined());

test('every written instant can be read', () => {
  fc.assert(
    fc.property(
      fc.date({ min: new Date('0000-01-01'), max: new Date('9999-12-31'), noInvalidDate: true }),
      (date) => {
        expect(parseInstant(formatInstant(date.getTime()))).toBe(date.getTime());
      },
    ),
  );
});

test('the form of answers, digit by digit, is read like the same moment in another form', () => {
  const number = (max: number, length: number) =>
    fc.nat(max).map((n) => String(n).padStart(length, '0'));
  const date = fc
    .tuple(number(9_999, 4), number(14, 2), number(33, 2))
    .map((parts) => parts.join('-'));
  const time = fc
    .tuple(number(25, 2), number(61, 2), number(61, 2))
    .map((parts) => parts.join(':'));
  fc.assert(
    fc.property(date, time, number(999, 3), (day, clock, milliseconds) => {
      const text = `${day}T${clock}.${milliseconds}`;
      expect(parseInstant(`${text}Z`)).toBe(parseInstant(`${text}+00:00`));
    }),
    { numRuns: 5_000 },
  );
});

test.each([
  '2026-01-05T1a:00:00.000Z',
  '2026/01/05T10:00:00.000Z',
  '2026-01-05T10:00:00.000X',
  '1900-02-29T00:00:00.000Z',
])('%s looks like a moment and is none', (text) => expect(parseInstant(text)).toBeUndefined());

test.each([
  [0, true],
  [9, true],
  [10, false],
  [-1, false],
])('reliability 1: %d ms after the instant, less than 10 ms passed: %s', (passed, answer) => {
  expect(isWithin(10, 1_000, 1_000 + passed)).toBe(answer);
});
