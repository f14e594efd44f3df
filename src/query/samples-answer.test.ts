// JSON of samples is exactly that of their answers as objects, for any samples.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../model/json.ts';
import type { Sample } from '../model/sample.ts';
import { sampleAnswer, samplesJson } from './sample-query.ts';

const object = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
const sample: fc.Arbitrary<Sample> = fc
  .record({
    deviceId: fc.constantFrom('a', 'b', 'quote"'),
    topic: fc.constantFrom('default', 'lora', 'ö"\\'),
    timestamp: fc.oneof(
      // Neighbors in an hour, and any instant with a year of four or more digits.
      fc.integer({ min: Date.UTC(2026, 0, 1, 11, 59), max: Date.UTC(2026, 0, 1, 12, 1) }),
      fc.integer({ min: Date.UTC(-300), max: Date.UTC(12_000) }),
    ),
    data: object,
  })
  .chain((plain) => fc.option(object).map((meta) => (meta === null ? plain : { ...plain, meta })));

test('contract 20: samples are answered in the same form as one sample', () => {
  fc.assert(
    fc.property(fc.array(sample), fc.boolean(), (samples, aliased) => {
      const answers = samples.map((each) => sampleAnswer(each, aliased));
      expect(samplesJson(samples, aliased)).toBe(JSON.stringify(answers));
    }),
  );
});
