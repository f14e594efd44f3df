// Every encoder gives back exactly what it was given, whatever the values.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteReader, ByteWriter } from '../../../../structures/bytes.ts';
import {
  readInts,
  readLastNumbers,
  readNumbers,
  readTexts,
  writeInts,
  writeNumbers,
  writeTexts,
} from './column-encoding.ts';

function roundTrip<T>(
  write: (writer: ByteWriter) => void,
  read: (reader: ByteReader) => T,
): { value: T; bytes: number } {
  const writer = new ByteWriter(16);
  write(writer);
  // Sections begin on a four-byte boundary, as new memory does.
  const reader = new ByteReader(Uint8Array.from(writer.written()));
  const value = read(reader);
  expect(reader.at).toBe(writer.length);
  return { value, bytes: writer.length };
}

const numbersBack = (values: number[]) =>
  roundTrip(
    (w) => writeNumbers(w, Float64Array.from(values), values.length),
    (r) => readNumbers(r, values.length),
  );
const intsBack = (values: number[]) =>
  roundTrip(
    (w) => writeInts(w, Float64Array.from(values), values.length),
    (r) => readInts(r, values.length),
  );

/** Reading a part only gives the same values as reading all. */
function partsBack(values: number[]): void {
  const writer = new ByteWriter(16);
  writeNumbers(writer, Float64Array.from(values), values.length);
  const target = new Float64Array(Math.max(1, values.length)).fill(Number.NaN);
  for (const wanted of [0, 1, values.length >> 1, values.length - 1, values.length]) {
    if (wanted < 0 || wanted > values.length) continue;
    const reader = new ByteReader(Uint8Array.from(writer.written()));
    const part = readNumbers(reader, values.length, target, wanted);
    expect(Array.from(part.subarray(0, wanted))).toEqual(values.slice(0, wanted));
    const again = new ByteReader(Uint8Array.from(writer.written()));
    const last = readLastNumbers(again, values.length, wanted);
    expect(Array.from(last)).toEqual(values.slice(values.length - wanted));
  }
}

const anyDouble = fc.double({ noNaN: true, noDefaultInfinity: true });
const decimal = fc
  .tuple(fc.integer(), fc.integer({ min: 0, max: 9 }))
  .map(([n, digits]) => n / 10 ** digits);
const safeInt = fc.integer({ min: -(2 ** 51) + 1, max: 2 ** 51 - 1 });
const walk = fc
  .tuple(
    safeInt.map((n) => n / 4),
    fc.array(fc.integer({ min: -900, max: 900 })),
    fc.integer({ min: 0, max: 100_000 }),
  )
  .map(([start, noise, step]) => noise.map((n, i) => Math.floor(start) + i * step + n));
const withOutliers = fc
  .tuple(
    fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 60, maxLength: 200 }),
    fc.array(safeInt, { maxLength: 4 }),
  )
  .map(([common, rare]) => common.map((n, i) => (i % 50 === 7 ? (rare[(i - 7) / 50] ?? n) : n)));
const longRuns = fc
  .array(fc.tuple(safeInt, fc.integer({ min: 1, max: 80 })))
  .map((runs) => runs.flatMap(([n, times]) => new Array(times).fill(n)));

describe('numbers', () => {
  test.each([
    ['any doubles', fc.array(anyDouble)],
    ['decimals', fc.array(decimal)],
    ['decimals and doubles mixed', fc.array(fc.oneof(decimal, anyDouble))],
    ['whole numbers of any size', fc.array(fc.oneof(safeInt, fc.maxSafeInteger()))],
    ['walks', walk],
    ['runs', longRuns],
    ['outliers', withOutliers],
  ])('%s come back to the bit', (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary as fc.Arbitrary<number[]>, (values) => {
        const { value } = numbersBack(values);
        expect(value.length).toBe(values.length);
        for (const [i, n] of values.entries())
          if (!Object.is(value[i], n)) throw new Error(`${n} became ${value[i]}`);
        partsBack(values);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    [[0, -0, 1]],
    [[Number.MAX_VALUE, Number.MIN_VALUE, -Number.MAX_VALUE]],
    [[9007199254740991, -9007199254740991]],
    [[0.1, 0.2, 0.30000000000000004]],
    [[1e21, 1e-7, 123456.789012]],
    [[]],
    [[5]],
  ])('%j', (values) => {
    expect([...numbersBack(values).value]).toEqual(values);
  });
});

describe('whole numbers', () => {
  test.each([
    ['any', fc.array(safeInt)],
    ['walks', walk],
    ['runs', longRuns],
    ['outliers', withOutliers],
  ])('%s come back', (_, arbitrary) => {
    fc.assert(
      fc.property(arbitrary as fc.Arbitrary<number[]>, (values) => {
        expect([...intsBack(values).value]).toEqual(values);
      }),
      { numRuns: 300 },
    );
  });

  test('take the bits they need: a line none, jitter its own, a switch its changes, an outlier little', () => {
    const minutes = Array.from({ length: 1_440 }, (_, i) => 1_767_571_200_000 + i * 60_000);
    expect(intsBack(minutes).bytes).toBeLessThan(24);
    expect(intsBack(minutes.map((t, i) => t + ((i * 7_919) % 900))).bytes).toBeLessThan(
      1_440 * 1.25 + 40,
    );
    expect(intsBack(minutes.map((_, i) => (i % 480 < 240 ? 0 : 1))).bytes).toBeLessThan(40);
    const noise = minutes.map((_, i) => (i * 37) % 61);
    noise[700] = -5_000_000;
    expect(intsBack(noise).bytes).toBeLessThan(1_440 * 0.75 + 60);
  });
});

test('texts come back whatever characters they have', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary' }), { minLength: 1 }),
      fc.array(fc.nat()),
      (texts, picks) => {
        const ids = Float64Array.from(picks, (n) => n % texts.length);
        const { value } = roundTrip(
          (w) => writeTexts(w, texts, ids),
          (r) => readTexts(r, ids.length),
        );
        expect(value).toEqual({ texts, ids });
      },
    ),
    { numRuns: 40 },
  );
  const lone = ['\ud800', 'a\udfff', 'x'.repeat(5_000)];
  expect(
    roundTrip(
      (w) => writeTexts(w, lone, Float64Array.of(2, 1, 0)),
      (r) => readTexts(r, 3),
    ).value.texts,
  ).toEqual(lone);
});
