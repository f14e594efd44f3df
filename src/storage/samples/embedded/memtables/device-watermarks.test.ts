// Device marks: newest times and orders of devices, also behind a start and when rows are dropped.
import { expect, test } from 'vitest';
import { DeviceMarks } from './shape-tables.ts';

const nothing = () => Number.NEGATIVE_INFINITY;
const notAsked = () => {
  throw new Error('asked');
};

test('the newest time and the next order of a device follow its rows', () => {
  const marks = new DeviceMarks(0, 0);
  expect([marks.newestOf(5, notAsked), marks.nextOrder(5)]).toEqual([Number.NEGATIVE_INFINITY, 0]);
  for (const [timestamp, order] of [
    [10, 0],
    [5, 1],
    [12, 7],
    [11, 3],
  ] as const)
    marks.note(5, timestamp, order);
  expect([marks.newestOf(5, notAsked), marks.nextOrder(5)]).toEqual([12, 8]);
  marks.note(5_000, 1, 0);
  expect(marks.newestOf(5_000, notAsked)).toBe(1);
  expect(marks.newestOf(5, notAsked)).toBe(12);
  expect(marks.newestOf(99_999, notAsked)).toBe(Number.NEGATIVE_INFINITY);
});

test('a device of before the start is looked up once, also when rows came before', () => {
  const marks = new DeviceMarks(3, 40);
  marks.note(1, 7, 41);
  expect(marks.nextOrder(1)).toBe(42);
  expect(marks.nextOrder(2)).toBe(40);
  expect(marks.newestOf(1, () => 20)).toBe(20);
  expect(marks.newestOf(1, notAsked)).toBe(20);
  marks.note(1, 21, 42);
  expect(marks.newestOf(1, notAsked)).toBe(21);
  expect(marks.newestOf(3, notAsked)).toBe(Number.NEGATIVE_INFINITY);
});

test('dropped rows make the times unknown', () => {
  const marks = new DeviceMarks(0, 0);
  marks.note(2, 7, 0);
  marks.forgetTimes();
  expect(marks.newestOf(2, nothing)).toBe(Number.NEGATIVE_INFINITY);
  expect(marks.nextOrder(2)).toBe(1);
});
