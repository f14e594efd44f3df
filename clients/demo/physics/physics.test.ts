// The physical models behind the demo: clocks, counters, weather and rhythms stay within what nature and people do.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alkalineVoltage, batteryLevel } from './battery.ts';
import { bigEndian, littleEndian, radioFrame } from './frame.ts';
import { dayMs, hourMs, instantOf, isFreeDay, localTime, minuteMs } from './local-time.ts';
import { busyness, officePresence } from './presence.ts';
import { poisson, seedOf, uniform } from './seeded.ts';
import { dailyMeter } from './tally.ts';
import { sunHeight, weatherAt } from './weather.ts';

const instants = fc.integer({ min: Date.UTC(2025, 0, 2), max: Date.UTC(2032, 0, 1) });

test('the campus clock agrees with the time zone database at any instant', () => {
  fc.assert(
    fc.property(instants, (at) => {
      const zoned = Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO('Europe/Zurich');
      const { day, weekday, hour } = localTime(at);
      expect(new Date(day * dayMs).toISOString().slice(0, 10)).toBe(zoned.toPlainDate().toString());
      expect(weekday).toBe(zoned.dayOfWeek - 1);
      expect(hour).toBeCloseTo(
        zoned.hour + zoned.minute / 60 + (zoned.second + zoned.millisecond / 1e3) / 3_600,
        9,
      );
      expect(instantOf(day, 0)).toBe(zoned.startOfDay().epochMilliseconds);
    }),
  );
});

for (const [date, free] of [
  ['2026-11-20', false],
  ['2026-11-21', true],
  ['2026-12-25', true],
  ['2027-01-01', true],
] as const) {
  test(`${date} is ${free ? 'a free' : 'a working'} day`, () =>
    expect(isFreeDay(Date.parse(date) / dayMs)).toBe(free));
}

test('seeded numbers are uniform, and a Poisson count has its mean', () => {
  const numbers = Array.from({ length: 20_000 }, (_, i) => uniform(seedOf('any'), i));
  expect(numbers.reduce((sum, x) => sum + x, 0) / numbers.length).toBeCloseTo(0.5, 1);
  for (const tenth of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]) {
    expect(numbers.filter((x) => Math.floor(x * 10) === tenth).length / numbers.length).toBeCloseTo(
      0.1,
      1,
    );
  }
  for (const mean of [0.3, 5, 80]) {
    const counts = Array.from({ length: 5_000 }, (_, i) => poisson(seedOf('crowd'), i, mean));
    expect(counts.reduce((sum, x) => sum + x, 0) / counts.length / mean).toBeCloseTo(1, 1);
  }
});

test('the weather is possible at any instant, the sun is up at noon and down at midnight', () => {
  fc.assert(
    fc.property(instants, (at) => {
      const weather = weatherAt(at);
      expect(weather.temperature).toBeGreaterThan(-25);
      expect(weather.temperature).toBeLessThan(42);
      expect(weather.humidity).toBeGreaterThanOrEqual(20);
      expect(weather.humidity).toBeLessThanOrEqual(100);
      expect(weather.pressure).toBeGreaterThan(930);
      expect(weather.pressure).toBeLessThan(1_000);
      expect(weather.rain).toBeGreaterThanOrEqual(0);
      expect(weather.rain).toBeLessThan(40);
      expect(weather.sun).toBeLessThan(1_100);
      const { day } = localTime(at);
      expect(sunHeight(instantOf(day, 12.5))).toBeGreaterThan(0.2);
      expect(sunHeight(instantOf(day, 0.5))).toBeLessThan(-0.2);
    }),
  );
});

test('people come to work on working days and to shops at their hours', () => {
  const friday = Date.parse('2026-11-20') / dayMs;
  expect(officePresence(1, instantOf(friday, 10.5))).toBeGreaterThan(0.5);
  expect(officePresence(1, instantOf(friday, 3))).toBeLessThan(0.01);
  expect(officePresence(1, instantOf(friday + 1, 10.5))).toBe(0);
  const hours = { from: 10, to: 18, weekend: true, peaks: [11.5, 15] };
  expect(busyness(hours, 1, instantOf(friday + 1, 11.5))).toBeGreaterThan(0.3);
  expect(busyness(hours, 1, instantOf(friday, 18))).toBe(0);
});

test('a daily meter only grows, keeps its daily amounts and agrees with its rate', () => {
  const meter = dailyMeter(
    (day) => 10 + (day % 3),
    (at) => Math.max(0, Math.sin(at / hourMs)),
  );
  const steps = fc.integer({ min: 1, max: 40 * 24 * 60 }).map((minutes) => minutes * minuteMs);
  fc.assert(
    fc.property(instants, steps, (at, step) => {
      expect(meter.totalAt(at + step)).toBeGreaterThanOrEqual(meter.totalAt(at) - 1e-6);
      const { day } = localTime(at);
      expect(meter.totalAt(instantOf(day + 1, 0)) - meter.totalAt(instantOf(day, 0))).toBeCloseTo(
        10 + (day % 3),
        5,
      );
      const slot = Math.floor(at / (15 * minuteMs)) * 15 * minuteMs;
      const grown = meter.totalAt(slot + 10 * minuteMs) - meter.totalAt(slot + 5 * minuteMs);
      expect(grown).toBeCloseTo(meter.rateAt(slot) / 12, 5);
    }),
  );
});

test('batteries drain and voltages follow', () => {
  const seed = seedOf('cell');
  const levels = Array.from({ length: 400 }, (_, day) =>
    batteryLevel(seed, Date.UTC(2026, 0, 1) + day * dayMs, 900),
  );
  const rises = levels.filter((level, i) => i > 0 && level > levels[i - 1]!);
  expect(rises.length).toBeLessThanOrEqual(1);
  expect(alkalineVoltage(100)).toBe(3.2);
  expect(alkalineVoltage(25)).toBeCloseTo(2.475);
});

test('frames are two’s complement in both byte orders, and a value that does not fit is a mistake', () => {
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (value) => {
      expect(Buffer.from(bigEndian(value, 4)).readInt32BE()).toBe(value);
      expect(Buffer.from(littleEndian(value, 4)).readInt32LE()).toBe(value);
    }),
  );
  expect(() => bigEndian(256, 1)).toThrow('does not fit');
  expect(() => bigEndian(0.5, 1)).toThrow('does not fit');
  expect(radioFrame(2, [1, 255])).toEqual({ port: 2, payloadHex: '01ff' });
});
