// Similar names: slips that people make are found, and other names are not.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { slipsBetween } from './similar-names.ts';

test.each([
  ['room-1 ', 'room-1', 0],
  ['Room_1', 'room-1', 0],
  ['70:B3:D5:7E:D0:00:00:01', '70b3d57ed0000001', 0],
  ['70b3d57ed0000010', '70b3d57ed0000001', 1],
  ['sensr-12', 'sensor-12', 1],
  ['sensor-1234', 'sensor-1299', 2],
  ['room-1', 'room-2', 1],
  ['a1', 'a2', undefined],
  ['sensor-12', 'pump-12', undefined],
  ['', ' ', undefined],
])('%j and %j: %j', (one, other, slips) => {
  expect(slipsBetween(one, other)).toBe(slips);
  expect(slipsBetween(other, one)).toBe(slips);
});

test('one character less is one slip, wherever it was', () => {
  const name = fc.stringMatching(/^[a-z0-9]{8,40}$/);
  fc.assert(
    fc.property(name, fc.nat(), (whole, place) => {
      const at = place % whole.length;
      expect(slipsBetween(whole, whole.slice(0, at) + whole.slice(at + 1))).toBe(1);
    }),
  );
});
