// JSON of samples is exactly that of their answers as objects, for any samples.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../model/json.ts';
import type { Sample } from '../model/sample.ts';
import { sampleAnswer } from './sample-query.ts';
import { packedSamples, packedSamplesJson, samplesJson } from './unwritten-json.ts';

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

test('samples of numbers are the same when another thread writes them', () => {
  const row = fc.record({
    timestamp: fc.integer({ min: Date.UTC(-300), max: Date.UTC(12_000) }),
    values: fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), {
      minLength: 3,
      maxLength: 3,
    }),
  });
  const keys = fc.uniqueArray(fc.oneof(fc.string(), fc.constant('1')), {
    minLength: 3,
    maxLength: 3,
  });
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), keys, fc.boolean(), (rows, names, aliased) => {
      const samples = rows.map(({ timestamp, values }): Sample => {
        const data = Object.fromEntries(names.map((name, i) => [name, values[i]!]));
        return { deviceId: 'a"', topic: 'ö', timestamp, data };
      });
      const packed = packedSamples(samples, aliased);
      expect(packedSamplesJson(packed!)).toBe(samplesJson(samples, aliased));
    }),
  );
});

test('other samples are written where they are', () => {
  fc.assert(
    fc.property(fc.array(sample), fc.boolean(), (samples, aliased) => {
      const packed = packedSamples(samples, aliased);
      if (packed !== undefined)
        expect(packedSamplesJson(packed)).toBe(samplesJson(samples, aliased));
    }),
  );
  const plain = { deviceId: 'a', topic: 't', timestamp: 0 };
  const others: Sample['data'][] = [{ a: 1, b: 2 }, { b: 1 }, {}, { a: '1' }, { a: null }];
  for (const data of others)
    expect(
      packedSamples(
        [
          { ...plain, data: { a: 1 } },
          { ...plain, data },
        ],
        false,
      ),
    ).toBeUndefined();
});
