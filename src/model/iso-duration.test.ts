// ISO-8601 durations: valid durations, and the error and its position for the others.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseIsoDuration } from './iso-duration.ts';

const day = 1;
test.each([
  ['PT1H', { months: 0, days: 0, ms: 3_600_000 }],
  ['PT15M', { months: 0, days: 0, ms: 900_000 }],
  ['PT0.5S', { months: 0, days: 0, ms: 500 }],
  ['P1D', { months: 0, days: day, ms: 0 }],
  ['P1W', { months: 0, days: 7, ms: 0 }],
  ['P1M', { months: 1, days: 0, ms: 0 }],
  ['P1Y', { months: 12, days: 0, ms: 0 }],
  ['P1Y6M', { months: 18, days: 0, ms: 0 }],
  ['P1DT12H30M', { months: 0, days: 1, ms: 45_000_000 }],
  ['pt2h', { months: 0, days: 0, ms: 7_200_000 }],
])('%s is read', (text, duration) => expect(parseIsoDuration(text)).toEqual({ duration }));

test.each([
  ['', 'must start with P'],
  ['1H', 'must start with P'],
  ['P', 'expected a number and a unit after P'],
  ['PT', 'expected hours, minutes, or seconds after T'],
  ['P1DT', 'expected hours, minutes, or seconds after T'],
  ['P1H', 'one of Y, M, W, D is expected at character 3'],
  ['PT1D', 'one of H, M, S is expected at character 4'],
  ['PT1M2H', 'S is expected at character 6'],
  ['PT1S2S', 'the end is expected at character 6'],
  ['P1D2D', 'T or the end is expected at character 5'],
  ['PT-1H', 'expected a number and a unit at character 3'],
  ['PT1', 'expected a number and a unit at character 3'],
  ['PT1.5H', 'only seconds may have a fraction'],
  ['PT1.0005S', 'only seconds may have a fraction'],
  ['PT0S', 'longer than zero'],
  ['PT1HT1M', 'expected a number and a unit at character 5'],
  ['P1234567890D', 'too large'],
  [`P${'1'.repeat(80)}D`, 'at most 64 characters'],
])('%s is refused with where and why', (text, reason) => {
  expect(parseIsoDuration(text)).toEqual({ reason: expect.stringContaining(reason) });
});

test('what Temporal accepts without sign or large fractions is read the same', () => {
  const part = fc.integer({ min: 0, max: 999 });
  fc.assert(
    fc.property(
      fc.tuple(part, part, part, part),
      fc.tuple(part, part, part, part),
      (date, time) => {
        const [years, months, weeks, days] = date;
        const [hours, minutes, seconds, milliseconds] = time;
        const temporal = Temporal.Duration.from({
          years,
          months,
          weeks,
          days,
          hours,
          minutes,
          seconds,
          milliseconds,
        });
        const parsed = parseIsoDuration(temporal.toString());
        const ms = ((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds;
        if (temporal.blank) expect(parsed).toHaveProperty('reason');
        else
          expect(parsed).toEqual({
            duration: { months: years * 12 + months, days: weeks * 7 + days, ms },
          });
      },
    ),
  );
});

test('any text gives a duration or a reason, never an exception', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^P[0-9YMWDTHS.]{0,12}$/)), (text) => {
      const parsed = parseIsoDuration(text);
      expect('duration' in parsed || parsed.reason.length > 0).toBe(true);
    }),
  );
});
