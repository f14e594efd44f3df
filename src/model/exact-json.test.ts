// Exact JSON: what is known of integers that became text survives the way to another process.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactPathsIn, exactPlacesIn, parseReadings, rememberPlaces } from './json-keys.ts';
import type { Json } from './json.ts';

test('review behaviour 14: places of exact integers are known again after a message', () => {
  const leaf = fc.oneof(
    fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
    fc.string().map((value) => JSON.stringify(value)),
  );
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join()}]`),
      fc.dictionary(fc.string({ maxLength: 3 }), tie('value'), { maxKeys: 4 }).map((members) => {
        const texts = Object.entries(members).map(
          ([key, text]) => `${JSON.stringify(key)}:${text}`,
        );
        return `{${texts.join()}}`;
      }),
    ),
  }));
  fc.assert(
    fc.property(value, (text) => {
      const read = parseReadings(`{"all":${text}}`);
      const sent = JSON.stringify({ read, places: exactPlacesIn(read) });
      const message = JSON.parse(sent) as { read: Json; places: string[][] };
      rememberPlaces(message.read, message.places);
      expect(exactPathsIn(message.read)).toEqual(exactPathsIn(read));
    }),
    { numRuns: 1_000 },
  );
});

test('places that the value does not have are passed over', () => {
  const value: Json = { a: [1] };
  rememberPlaces(value, [['b', 'c'], ['a', '0', 'd'], []]);
  expect(exactPathsIn(value)).toEqual([]);
});
