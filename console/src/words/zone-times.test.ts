// Times of a zone: instants and back, also at both changes of the clock, and with the offset.
import { expect, test } from 'vitest';
import { instantOfLocal, localOf, zonedIso } from './zone-times.ts';

const zurich = 'Europe/Zurich';

test.each([
  ['winter', '2026-11-22T13:05:00.000Z', zurich, '2026-11-22T14:05'],
  ['summer', '2026-07-01T13:05:00.000Z', zurich, '2026-07-01T15:05'],
  ['midnight', '2026-07-01T22:00:00.000Z', zurich, '2026-07-02T00:00'],
  ['half an hour', '2026-07-01T00:00:00.000Z', 'Asia/Kolkata', '2026-07-01T05:30'],
  ['the hour before autumn', '2026-10-24T23:30:00.000Z', zurich, '2026-10-25T01:30'],
  ['the hour after autumn', '2026-10-25T02:30:00.000Z', zurich, '2026-10-25T03:30'],
  ['the first of two', '2026-10-25T00:30:00.000Z', zurich, '2026-10-25T02:30'],
  ['before spring', '2026-03-29T00:59:00.000Z', zurich, '2026-03-29T01:59'],
  ['after spring', '2026-03-29T01:00:00.000Z', zurich, '2026-03-29T03:00'],
])('%s', (_, instant, zone, local) => {
  expect(localOf(instant, zone)).toBe(local);
  expect(instantOfLocal(local, zone)).toBe(instant);
});

test('a time that clocks skip counts from before the change', () => {
  expect(instantOfLocal('2026-03-29T02:30', zurich)).toBe('2026-03-29T01:30:00.000Z');
});

test.each([
  ['2026-07-01T00:00:00Z', 'Europe/Zurich', '2026-07-01T02:00:00+02:00'],
  ['2026-07-01T00:00:00Z', 'Asia/Kolkata', '2026-07-01T05:30:00+05:30'],
  ['2026-07-01T00:00:00Z', 'UTC', '2026-07-01T00:00:00+00:00'],
  ['2026-07-01T00:00:00.750Z', 'America/St_Johns', '2026-06-30T21:30:00-02:30'],
])('%s in %s', (iso, zone, shown) => {
  expect(zonedIso(iso, zone)).toBe(shown);
  expect(Date.parse(shown)).toBe(Math.floor(Date.parse(iso) / 1_000) * 1_000);
});
