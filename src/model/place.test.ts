// Tests of paths: every list of names is written and read back.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPath, parsePath } from './place.ts';

test.each([
  ['Site', ['Site']],
  ['Site/Floor 1', ['Site', 'Floor 1']],
  [' Site / Floor 1 ', ['Site', 'Floor 1']],
  ['A\\/B/C', ['A/B', 'C']],
  ['A\\\\/C', ['A\\', 'C']],
  ['C:\\temp', ['C:\\temp']],
  ['A\\', ['A\\']],
])('reads %s', (text, names) => {
  expect(parsePath(text)).toEqual(names);
});

test.each(['', ' ', '/', 'A/', '/A', 'A//B', 'A/ /B'])('refuses %j', (text) => {
  expect(parsePath(text)).toBeUndefined();
});

test('reads back every path that it writes', () => {
  const name = fc
    .oneof(fc.string(), fc.stringMatching(/^[\\/a ]{1,6}$/))
    .map((text) => text.trim())
    .filter((text) => text !== '');
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 12 }), (names) => {
      expect(parsePath(formatPath(names))).toEqual(names);
    }),
  );
});
