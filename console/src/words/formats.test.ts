// Formats: numbers, times and durations as they are shown.
import { describe, expect, test } from 'vitest';
import { coordinates } from './coordinates.ts';
import { formatsOf } from './formats.ts';

const english = formatsOf('en');
const german = formatsOf('de');
const space = '\u202f';
const nowMs = Date.parse('2026-03-01T12:00:00Z');
const before = (seconds: number) => new Date(nowMs - seconds * 1_000).toISOString();

describe('numbers', () => {
  test.each([
    [0, '0'],
    [12_345, '12\u202f345'],
    [-1_000, '-1\u202f000'],
  ])('count of %d', (value, shown) => {
    expect(english.count(value)).toBe(shown);
    expect(german.count(value)).toBe(shown);
  });

  test.each([
    [9_999, '9\u202f999'],
    [105_000, '105\u202fk'],
    [1_234_567, '1.23\u202fM'],
    [5e9, '5\u202fG'],
  ])('short form of %d', (value, shown) => expect(english.short(value)).toBe(shown));

  test.each([
    [21.456, '21.46', '21,46'],
    [0.12345, '0.1235', '0,1235'],
    [433.26, '433.3', '433,3'],
    [-1_234.5, `-1${space}235`, `-1${space}235`],
    [362_333, `362${space}333`, `362${space}333`],
  ])('value %d', (value, inEnglish, inGerman) => {
    expect(english.value(value)).toBe(inEnglish);
    expect(german.value(value)).toBe(inGerman);
  });

  test.each([
    [512, `512${space}B`],
    [1_700_000, '1.7\u202fMB'],
  ])('%d bytes', (value, shown) => expect(english.bytes(value)).toBe(shown));
});

test('review console M4: one thousands separator, in every language and every kind of number', () => {
  for (const formats of [english, german]) {
    expect(formats.count(1_341)).toBe(`1${space}341`);
    expect(formats.value(1_341)).toBe(`1${space}341`);
    expect(formats.percent(21.4)).toBe(`21${space}%`);
  }
});

test('review console M4: coordinates have their senses', () => {
  expect(coordinates(47.2305, -8.82, 'en')).toBe('47.2305° N 8.82° W');
  expect(coordinates(-47.2305, 8.82, 'de')).toBe('47,2305° S 8,82° O');
});

describe('times', () => {
  test('review console M4: the locale orders the parts of dates', () => {
    const at = '2026-11-03T12:05:06Z';
    expect(formatsOf('en-GB', 'UTC').day(at)).toBe('3 Nov 2026');
    expect(formatsOf('en-US', 'UTC').day(at)).toBe('Nov 3, 2026');
    expect(formatsOf('de', 'UTC').day(at)).toBe('03.11.2026');
  });

  test('a tick of a time axis is the clock time, and the day at midnight', () => {
    const { tick } = formatsOf('en-GB', 'UTC');
    expect(tick(Date.parse('2026-11-03T12:05:00Z'), 'UTC')).toBe('12:05');
    expect(tick(Date.parse('2026-11-02T23:00:00Z'), 'Europe/Zurich')).toBe('Tue 3 Nov');
  });

  test.each([
    [0, 'now', 'jetzt'],
    [59, '59 seconds ago', 'vor 59 Sekunden'],
    [180, '3 minutes ago', 'vor 3 Minuten'],
    [7_200, '2 hours ago', 'vor 2 Stunden'],
    [86_400, 'yesterday', 'gestern'],
  ])('%d seconds ago', (seconds, inEnglish, inGerman) => {
    expect(english.ago(before(seconds), nowMs)).toBe(inEnglish);
    expect(german.ago(before(seconds), nowMs)).toBe(inGerman);
  });

  test('clock times have 24 hours, in the zone that is asked for', () => {
    expect(english.clock('2026-03-01T23:05:06Z', 'Europe/Zurich')).toBe('00:05:06');
    expect(german.clock('2026-03-01T13:05:06Z', 'UTC')).toBe('13:05:06');
    const inTokyo = formatsOf('en', 'Asia/Tokyo');
    expect(inTokyo.clock('2026-03-01T13:05:06Z')).toBe('22:05:06');
    expect(inTokyo.clock('2026-03-01T13:05:06Z', 'UTC')).toBe('13:05:06');
  });

  test.each([
    [0, '0 s'],
    [90, '1 min 30 s'],
    [5_400, '1 h 30 min'],
    [90_061, '1 d 1 h'],
  ])('duration of %d s', (seconds, shown) => expect(english.duration(seconds)).toBe(shown));
});
