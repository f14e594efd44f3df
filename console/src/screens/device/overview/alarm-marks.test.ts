// Alarm marks: a line for each alarm of a device, named while there is room for names.
import { expect, test } from 'vitest';
import type { Alarm } from '../../../api/alarms.ts';
import { marksOf } from './value-chart.tsx';

const alarm = (name: string, severity: Alarm['severity']) =>
  ({ name, severity, firstTriggered: '1970-01-01T00:00:10Z' }) as Alarm;

test('an alarm is marked where it opened, in the color of its severity', () => {
  expect(marksOf([alarm('Too hot', 'MAJOR'), alarm('Low battery', 'WARNING')])).toEqual([
    { at: 10, label: 'Too hot', color: '--bad' },
    { at: 10, label: 'Low battery', color: '--warn' },
  ]);
});

test('many alarms keep their lines without names', () => {
  const labels = marksOf(Array.from({ length: 4 }, () => alarm('a', 'INFO'))).map(
    ({ label }) => label,
  );
  expect(labels).toEqual(['', '', '', '']);
});
