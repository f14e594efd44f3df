// Rules of interface 2.3: topics, data keys, what becomes of invalid ones, and metrics read from samples.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../model/json.ts';
import { parseLargeJson } from '../../model/large-json.ts';
import { cleanInSteps, isDataKey, validationLimits } from './data-cleaning.ts';
import { validateSample } from './sample-validation.ts';
import { isTopic } from '../../model/ids.ts';
import { processorMs } from '../../structures/testing-processor-time.ts';

const printedTopic = /^[a-zA-Z0-9]([a-zA-Z0-9]+(\.|:|-|_)?)*[a-zA-Z0-9]+$/;
const keyRule = /^[a-zA-Z0-9]+([._-][a-zA-Z0-9]+)*$/;

const alphabet = fc.constantFrom('a', 'Z', '0', '.', ':', '-', '_', ' ', '!', 'é', '\n', '٣');
const shortText = fc.array(alphabet, { maxLength: 12 }).map((parts) => parts.join(''));

const sampleOf = (data: JsonObject, topic = 'default', meta?: JsonObject) => ({
  deviceId: '02a',
  topic,
  timestamp: 1_700_000_000_000,
  data,
  ...(meta && { meta }),
});

function nested(levels: number, inner: Json): JsonObject {
  let value: Json = inner;
  for (let i = 0; i < levels; i++) value = { k: value };
  return value as JsonObject;
}

describe('interface 2.3 topics', () => {
  test('every text of up to five characters is judged as the printed expression judges it', () => {
    const letters = ['a', '0', '.', ':', '-', '_', '!'];
    let texts = [''];
    for (let length = 0; length <= 5; length++) {
      for (const text of texts)
        expect(isTopic(text), JSON.stringify(text)).toBe(printedTopic.test(text));
      texts = texts.flatMap((text) => letters.map((letter) => text + letter));
    }
  });

  test('random texts are judged as the printed expression judges them', () => {
    fc.assert(
      fc.property(shortText, (text) => isTopic(text) === printedTopic.test(text)),
      { numRuns: 20_000 },
    );
  });

  test('a million characters take linear time', () => {
    for (const text of [
      'a'.repeat(1e6),
      `${'a'.repeat(1e6)}!`,
      `ab${'.c'.repeat(5e5)}`,
      `ab${'.c'.repeat(5e5)}.`,
    ]) {
      const before = processorMs();
      isTopic(text);
      expect(processorMs() - before).toBeLessThan(100);
    }
  });

  const rows = [
    ['ab', true],
    ['ab.1', true],
    ['ab.c.d', true],
    ['room-1:x_2', true],
    ['a', false],
    ['', false],
    ['a.b', false],
    ['.ab', false],
    ['ab.', false],
    ['ab..c', false],
    ['ab\n', false],
    ['a b', false],
    ['größe', false],
  ] as const;
  for (const [topic, valid] of rows)
    test(`${JSON.stringify(topic)} is ${valid}`, () => expect(isTopic(topic)).toBe(valid));

  test('rule 4: an invalid topic is stored as default, meta names the original, a warning is noted', () => {
    const { sample, notes } = validateSample(sampleOf({ a: 1 }, 'a.b c', { unit: 'C' }));
    expect(sample.topic).toBe('default');
    expect(sample.meta).toEqual({
      unit: 'C',
      svcTopicValidation: { message: 'invalid topic a.b c' },
    });
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatchObject({
      level: 'WARN',
      source: 'UPLINK',
      details: { topic: 'a.b c' },
    });
  });
});

describe('interface 2.3 data keys', () => {
  test('random keys are judged as the rules say', () => {
    fc.assert(
      fc.property(shortText, (text) => isDataKey(text) === keyRule.test(text)),
      { numRuns: 20_000 },
    );
  });

  for (const [key, valid] of [
    ['a', true],
    ['7', true],
    ['_', false],
    ['a.b', true],
    ['a-b_c', true],
    ['a__b', false],
    ['a:b', false],
    ['_a', false],
    ['a-', false],
    ['é', false],
    ['', false],
    ['__proto__', false],
    ['constructor', true],
  ] as const)
    test(`${JSON.stringify(key)} is ${valid}`, () => expect(isDataKey(key)).toBe(valid));

  test('rule 5: an invalid key goes to meta with its value, a nested one with its dotted path', () => {
    const data = {
      ok: 1,
      'b!': 2,
      foo: { bar: { ok: true, 'x y': { deep: 1 } } },
      list: [{ good: 1, 'no:': 'v' }, [{ _: 0 }]],
    };
    const { sample, notes } = validateSample(sampleOf(data));
    expect(sample.data).toEqual({ ok: 1, foo: { bar: { ok: true } }, list: [{ good: 1 }, [{}]] });
    expect(sample.meta).toEqual({
      svcDataKeyValidation: {
        'b!': { message: 'invalid data key b!', value: 2 },
        'foo.bar.x y': { message: 'invalid data key x y', value: { deep: 1 } },
        'list.0.no:': { message: 'invalid data key no:', value: 'v' },
        'list.1.0._': { message: 'invalid data key _', value: 0 },
      },
    });
    expect(notes.map((note) => note.level)).toEqual(['WARN', 'WARN', 'WARN', 'WARN']);
  });

  test('rule 3: a dot in a key is only a separator', () => {
    const sample = sampleOf({ 'a.b': 1, a: { b: 2 } });
    expect(validateSample(sample).sample).toBe(sample);
  });

  test('two removed keys of one path both keep their value', () => {
    const { sample } = validateSample(sampleOf({ 'a.b!': 1, a: { 'b!': 2 } }));
    expect(sample.meta!.svcDataKeyValidation).toMatchObject({
      'a.b!': { value: 1 },
      'a.b! (2)': { value: 2 },
    });
  });

  test('the key __proto__ is removed like any other and changes no prototype', () => {
    const data = JSON.parse(
      '{"ok":1,"__proto__":{"admin":true},"in":{"__proto__":5}}',
    ) as JsonObject;
    const { sample } = validateSample(sampleOf(data));
    expect((sample.data as { admin?: boolean }).admin).toBeUndefined();
    const validation = sample.meta!.svcDataKeyValidation as JsonObject;
    expect(Object.getPrototypeOf(validation)).toBe(Object.prototype);
    expect(JSON.stringify(validation)).toContain(
      '"__proto__":{"message":"invalid data key __proto__","value":{"admin":true}}',
    );
    expect(Object.keys(validation)).toEqual(['__proto__', 'in.__proto__']);
  });

  test("meta of the script is kept; the platform's entry wins over one of the same name", () => {
    const meta = {
      note: 'x',
      svcTopicValidation: 'mine',
      svcDataKeyValidation: { 'b!': 'mine', other: 1 },
    };
    const { sample } = validateSample(sampleOf({ 'b!': 2 }, '!', meta));
    expect(sample.meta).toEqual({
      note: 'x',
      svcTopicValidation: { message: 'invalid topic !' },
      svcDataKeyValidation: { 'b!': { message: 'invalid data key b!', value: 2 }, other: 1 },
    });
    const valid = sampleOf({ b: 1 }, 'default', meta);
    expect(validateSample(valid).sample).toBe(valid);
  });
});

describe('limits', () => {
  test('values nested too deep are removed and the result can be written as JSON', () => {
    const deep = nested(200_000, 1);
    for (const data of [
      { ok: 1, deep },
      { ok: 1, 'bad!': deep },
      { ok: 1, list: [deep] },
    ]) {
      const { sample, notes } = validateSample(sampleOf(data));
      expect(sample.data.ok).toBe(1);
      expect(JSON.stringify(sample).length).toBeLessThan(20_000);
      expect(notes.length).toBe(1);
    }
    const { sample } = validateSample(sampleOf({ ok: 1 }, 'default', deep));
    expect(sample.meta).toBeUndefined();
  });

  test('the deepest allowed value stays', () => {
    const sample = sampleOf(nested(validationLimits.depthMax, 1));
    expect(validateSample(sample).sample).toBe(sample);
    expect(validateSample(sampleOf(nested(validationLimits.depthMax + 1, 1))).notes).toHaveLength(
      1,
    );
  });

  test('a long path with many invalid keys below does not multiply', () => {
    const inner = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`bad!${i}`, i]));
    const { sample, notes } = validateSample(sampleOf({ ['k'.repeat(499)]: inner }));
    expect(Object.keys(sample.meta!.svcDataKeyValidation as JsonObject)).toHaveLength(
      validationLimits.removedKeysMax,
    );
    expect(JSON.stringify(sample.meta).length).toBeLessThan(3e6);
    expect(notes).toHaveLength(validationLimits.keyNotesMax + 1);
    expect(notes.at(-1)!.message).toContain('4980');
  });

  test('contract 16: numbers that are not finite are stored as null with a warning', () => {
    const { sample, notes } = validateSample(sampleOf({ a: Number.NaN, list: [1, Infinity] }));
    expect(sample.data).toEqual({ a: null, list: [1, null] });
    expect(notes.map((note) => note.details)).toEqual([{ path: 'a' }, { path: 'list.1' }]);
  });

  test('any JSON is judged without an exception, and what comes out is valid', () => {
    const json = fc.dictionary(
      fc.oneof(shortText, fc.constant('__proto__')),
      fc.jsonValue({ maxDepth: 4 }),
    );
    fc.assert(
      fc.property(json, fc.string(), (data, topic) => {
        const { sample } = validateSample(sampleOf(data as JsonObject, topic));
        const again = validateSample({ ...sample });
        return again.notes.length === 0 && isTopic(sample.topic);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('interface 2.3 metrics', () => {
  for (const [data, metrics] of [
    [{ sqi: 1 }, { sqi: 1 }],
    [{ signalQuality: 2 }, { sqi: 2 }],
    [{ signalQualityIndicator: 3 }, { sqi: 3 }],
    [{ sqi: 9, signalQuality: 2 }, { sqi: 2 }],
    [{ sqi: 0 }, {}],
    [{ sqi: 2.5 }, {}],
    [{ sqi: '2' }, {}],
    [{ batteryLevel: 0 }, { batteryLevel: 0 }],
    [
      { batteryLevel: 99.5, sqi: 3 },
      { sqi: 3, batteryLevel: 99.5 },
    ],
    [{ batteryLevel: 101 }, {}],
    [{ batteryLevel: -1 }, {}],
    [{ batteryLevel: '50' }, {}],
    [{ batteryLevel: Number.NaN }, {}],
    [{ nested: { sqi: 1 } }, {}],
    [
      { latitude: -90, longitude: 180 },
      { latitude: -90, longitude: 180 },
    ],
    [{ latitude: 47.4 }, {}],
    [{ latitude: 90.1, longitude: 8 }, {}],
    [{ latitude: 47, longitude: 181 }, {}],
    [{ latitude: '47', longitude: 8, sqi: 1 }, { sqi: 1 }],
  ] as const)
    test(JSON.stringify(data), () =>
      expect(validateSample(sampleOf(data)).metrics).toEqual(metrics),
    );
});

test.each<readonly [string, JsonObject]>([
  ['valid', Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`key${i}`, i]))],
  [
    'invalid in part',
    Object.fromEntries(
      Array.from({ length: 30_000 }, (_, i) => [i % 9 === 0 ? `key!${i}` : `key${i}`, { 'a!': i }]),
    ),
  ],
  [
    'invalid deep inside',
    {
      a: { list: Array.from({ length: 20_000 }, (_, i) => [{ 'b!': i, c: i }]) },
      d: nested(50, 1),
    },
  ],
])('security 4: large data that is %s is checked in steps, as at once', async (_, data) => {
  const text = JSON.stringify(data);
  const large = (await parseLargeJson(Buffer.from(text))) as JsonObject;
  const work = cleanInSteps(large);
  let steps = 1;
  while (work.next().done !== true) steps++;
  expect(steps).toBeGreaterThan(10);
  const { sample, notes } = validateSample(sampleOf(large));
  const expected = validateSample(sampleOf(JSON.parse(text) as JsonObject));
  expect({ sample, notes }).toEqual({ sample: expected.sample, notes: expected.notes });
});
