// The sample scanner reads what the parser reads, and leaves other forms to it.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseInstant } from '../../model/instant.ts';
import { jsonGroupLimits } from './json-groups.ts';
import { SampleScanner, type SampleColumns } from './sample-scanner.ts';

/** The samples as objects again, with the data's values in the order of the example's keys. */
function samplesOf(found: SampleColumns): unknown[] {
  return Array.from({ length: found.length }, (_, row) => {
    let column = 0;
    const fill = (value: unknown): unknown => {
      if (typeof value === 'object' && value !== null)
        return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, fill(v)]));
      const kind = found.kinds[column];
      const stored = found.columns[column++]![row]!;
      if (kind === 'boolean') return stored === 1;
      return kind === 'text' ? found.texts[stored] : stored;
    };
    const { topic, deviceIds } = found;
    return {
      ...(deviceIds !== undefined && { deviceId: found.texts[deviceIds[row]!] }),
      ...(topic !== undefined && { topic }),
      timestamp: found.timestamps[row],
      data: fill(found.example),
    };
  });
}

/** What the general way reads. */
function expected(samples: readonly unknown[]): unknown[] {
  return samples.map((sample) => {
    const { timestamp, ...rest } = sample as { timestamp: string | number };
    const at = typeof timestamp === 'number' ? timestamp : parseInstant(timestamp);
    // The store has no negative zero.
    return JSON.parse(JSON.stringify({ ...rest, timestamp: at }));
  });
}

function scanAll(text: string): { samples: unknown[]; calls: number } {
  const bytes = Buffer.from(text);
  const scanner = new SampleScanner('array', jsonGroupLimits);
  const samples: unknown[] = [];
  let calls = 0;
  for (let from = 1; ; ) {
    const found = scanner.scan(bytes, from, true);
    if (found === undefined) return { samples, calls };
    calls++;
    samples.push(...samplesOf(found.samples));
    from = found.end;
    if (found.isLast) return { samples, calls };
  }
}

const number = fc.oneof(
  fc.integer(),
  fc.integer({ min: -99_999, max: 99_999 }).map((n) => n / 100),
  // Longer integers are left to the parser, which keeps their text.
  fc
    .double({ noNaN: true, noDefaultInfinity: true })
    .filter((n) => !/^-?\d{16,}$/.test(JSON.stringify(n))),
  fc.constantFrom(0, -0, 123_456_789_012_345, 1e21, 5e-324, 0.000_001),
);
const time = fc
  .integer({ min: 0, max: 4_000_000_000_000 })
  .chain((ms) =>
    fc.constantFrom(new Date(ms).toISOString(), `${new Date(ms).toISOString().slice(0, 19)}Z`),
  );

test('samples of one form are read as the parser reads them', () => {
  const sample = fc.record({
    timestamp: fc.oneof(
      time,
      fc
        .integer({ min: 1_700_000_000_000, max: 1_700_000_999_999 })
        .map((ms) => new Date(ms).toISOString()),
    ),
    data: fc.record({
      t: number,
      nested: fc.record({
        on: fc.boolean(),
        'key with "quotes" ü': fc.string({ unit: 'grapheme' }),
      }),
      label: fc.constantFrom('idle', 'running', 'ü\n"'),
    }),
  });
  fc.assert(
    fc.property(
      fc.array(sample, { minLength: 1, maxLength: 40 }),
      fc.constantFrom(undefined, 1),
      (samples, indent) => {
        const text = JSON.stringify(samples, null, indent);
        const found = scanAll(text);
        // A key with escapes is left to the parser.
        expect(found.samples).toEqual([]);
        const plain = samples.map(({ timestamp, data: { t, nested, label } }) => ({
          timestamp,
          data: { t, nested: { on: nested.on, text: nested['key with "quotes" ü'] }, label },
        }));
        const all = scanAll(JSON.stringify(plain, null, indent));
        expect(all.samples).toEqual(expected(plain));
        expect(all.calls).toBe(1);
      },
    ),
    { numRuns: 300 },
  );
});

test('strings of any length, kept from body to body, are read as the parser reads them', () => {
  const text = fc.oneof(
    fc.string({ unit: 'grapheme-ascii', maxLength: 100 }),
    fc.string({ unit: 'binary-ascii', maxLength: 20 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
    // Many with the same beginning or end.
    fc.tuple(fc.constantFrom('', 'room-', 'a'.repeat(61)), fc.nat(20)).map(([a, n]) => `${a}${n}`),
  );
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 60 }), (texts) => {
      const samples = texts.map((label) => ({ timestamp: 1_767_225_600_000, data: { label } }));
      expect(scanAll(JSON.stringify(samples)).samples).toEqual(expected(samples));
    }),
    { numRuns: 100 },
  );
});

test('numbers are read as the parser reads them', () => {
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 50 }), (values) => {
      const samples = values.map((v) => ({ timestamp: 1_767_225_600_000, data: { v } }));
      expect(scanAll(JSON.stringify(samples)).samples).toEqual(expected(samples));
    }),
    { numRuns: 500 },
  );
});

test('devices and topics are read, and another topic begins other columns', () => {
  const samples = ['a', 'a', 'b'].map((topic, i) => ({
    deviceId: `0${i}`,
    topic,
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { v: i },
  }));
  const found = scanAll(JSON.stringify(samples));
  expect(found.samples).toEqual(expected(samples));
  expect(found.calls).toBe(2);
});

const good = '{"timestamp":"2026-01-01T00:00:00.000Z","data":{"v":1}}';

test.each([
  ['an array', '{"timestamp":1767225600000,"data":{"v":[1]}}'],
  ['null', '{"timestamp":1767225600000,"data":{"v":null}}'],
  ['a time in seconds', '{"timestamp":1767225600,"data":{"v":1}}'],
  [
    'an integer that a number does not hold',
    '{"timestamp":1767225600000,"data":{"v":9007199254740993}}',
  ],
  ['an empty member', '{"timestamp":1767225600000,"data":{"v":1},"meta":{}}'],
  ['a key twice', '{"timestamp":1767225600000,"data":{"v":1,"v":2}}'],
  ['a member twice', '{"timestamp":1767225600000,"timestamp":1767225600001,"data":{"v":1}}'],
  ['a further member', '{"timestamp":1767225600000,"data":{"v":1},"meta":{"a":1}}'],
  ['no time', '{"data":{"v":1}}'],
  ['no data', '{"timestamp":1767225600000}'],
  ['data that is no object', '{"timestamp":1767225600000,"data":5}'],
  ['a topic that is no text', '{"timestamp":1767225600000,"topic":5,"data":{"v":1}}'],
  ['keys that an object sorts', '{"timestamp":1767225600000,"data":{"2":1,"1":2}}'],
  ['a key that would set the prototype', '{"timestamp":1767225600000,"data":{"__proto__":1}}'],
  ['a leading zero', '{"timestamp":1767225600000,"data":{"v":01}}'],
  ['a plus sign', '{"timestamp":1767225600000,"data":{"v":+1}}'],
  ['a point without digits', '{"timestamp":1767225600000,"data":{"v":1.}}'],
  ['a hexadecimal number', '{"timestamp":1767225600000,"data":{"v":0x10}}'],
  ['a number too large', '{"timestamp":1767225600000,"data":{"v":1e999}}'],
  ['a time that does not exist', '{"timestamp":"2026-02-30T00:00:00.000Z","data":{"v":1}}'],
  ['half a millisecond', '{"timestamp":1767225600000.5,"data":{"v":1}}'],
  ['a control character in a text', '{"timestamp":1767225600000,"data":{"v":"\u0001"}}'],
  ['an unknown escape', '{"timestamp":1767225600000,"data":{"v":"\\x"}}'],
  ['a word', '{"timestamp":1767225600000,"data":{"v":tru}}'],
  ['a deep member', '{"timestamp":1767225600000,"data":{"a":{"b":{"c":{"d":{"e":{"f":1}}}}}}}'],
  ['no end', '{"timestamp":1767225600000,"data":{"v":1}'],
  ['something behind', '{"timestamp":1767225600000,"data":{"v":1}}x'],
])('%s is left to the parser', (_, element) => {
  const found = scanAll(`[${good},${element}]`);
  expect(found.samples).toHaveLength(1);
  const scanner = new SampleScanner('array', jsonGroupLimits);
  expect(scanner.scan(Buffer.from(`${element}]`), 0, true)).toBeUndefined();
});

test('what is cut off anywhere is left for later', () => {
  const text = `[${good},${good},${good}]`;
  for (let length = 0; length <= text.length; length++) {
    const { samples } = scanAll(text.slice(0, length));
    const whole = (text.slice(0, length).match(/\}\}(?=[,\]])/g) ?? []).length;
    expect(samples).toHaveLength(whole);
  }
});

test('random bytes in a body never give another sample than the parser', () => {
  const body = `[${good},{"timestamp":"2026-01-01T00:00:01.000Z","data":{"v":-20.5}},${good}]`;
  fc.assert(
    fc.property(
      fc.nat(body.length - 1),
      fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }),
      (at, other) => {
        const text = body.slice(0, at) + other + body.slice(at + 1);
        const { samples } = scanAll(text);
        let parsed: unknown[] | undefined;
        try {
          parsed = JSON.parse(text) as unknown[];
        } catch {
          parsed = undefined;
        }
        if (parsed !== undefined && samples.length === parsed.length)
          expect(samples).toEqual(expected(parsed));
      },
    ),
    { numRuns: 3_000 },
  );
});
