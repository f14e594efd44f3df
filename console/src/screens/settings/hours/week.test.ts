// Week of working hours: clock times, ends of bars within their day, and what is sent.
import { describe, expect, test } from 'vitest';
import {
  clockOf,
  minutesOf,
  movedTo,
  totalHours,
  weekOf,
  withAnother,
  withEnd,
  workingDaysOf,
} from './week.ts';

test.each([
  ['8', 480],
  ['08:00', 480],
  ['8.30', 510],
  ['0815', 495],
  ['24:00', 1_440],
  ['24:01', undefined],
  ['8:60', undefined],
  ['', undefined],
  ['noon', undefined],
])('%s is minute %s of the day', (text, minutes) => expect(minutesOf(text)).toBe(minutes));

test('a week is sent as it was read', () => {
  const days = {
    MONDAY: [{ from: '08:00', to: '12:00' }],
    SUNDAY: [{ from: '22:00', to: '02:30' }],
  };
  const week = weekOf({ enabled: true, days });
  expect(workingDaysOf(week)).toEqual(days);
  expect(totalHours(week)).toBe(8.5);
  expect(workingDaysOf(weekOf(null))).toEqual({});
});

describe('a bar', () => {
  const morning = { from: 480, to: 720 };
  test.each([
    ['from', 486, { from: 480, to: 720 }],
    ['from', 800, { from: 705, to: 720 }],
    ['from', -50, { from: 0, to: 720 }],
    ['to', 2_000, { from: 480, to: 1_440 }],
    ['to', 0, { from: 480, to: 495 }],
  ] as const)('with its end %s at %s', (end, minutes, moved) =>
    expect(withEnd(morning, end, minutes)).toEqual(moved),
  );

  test('keeps its length when it is moved to the end of the day', () => {
    expect(movedTo(morning, 1_400)).toEqual({ from: 1_200, to: 1_440 });
    expect(clockOf(movedTo(morning, 1_400).to)).toBe('24:00');
  });

  test('is followed by another only where one fits', () => {
    expect(withAnother([morning])).toEqual([morning, { from: 780, to: 1_020 }]);
    expect(withAnother([{ from: 0, to: 1_440 }])).toHaveLength(1);
    expect(withAnother([])).toEqual([{ from: 480, to: 960 }]);
  });
});
