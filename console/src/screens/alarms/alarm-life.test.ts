// Life of an alarm: its events in order, and the time that its chart shows.
import { expect, test } from 'vitest';
import type { Alarm } from '../../api/alarms.ts';
import { lifeOf } from './alarm-actions.ts';
import { spanOf } from './alarm-chart.tsx';

const by = { type: 'USER', id: 'u', name: 'Ann' } as const;
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const opened = {
  count: 1,
  firstTriggered: at(0),
  lastTriggered: at(0),
  comments: [],
  acknowledged: null,
  cleared: null,
  escalated: null,
} as unknown as Alarm;

test('a new alarm has opened and nothing else', () => {
  expect(lifeOf(opened)).toEqual([{ kind: 'OPENED', at: at(0), by: null, content: null }]);
});

test('everything that happened is in its order, with who did it', () => {
  const alarm: Alarm = {
    ...opened,
    count: 7,
    lastTriggered: at(9),
    escalated: at(5),
    acknowledged: { at: at(6), by },
    cleared: { at: at(12), by: null, reason: 'RULE_FALSE' },
    comments: [{ id: 'c', at: at(7), by, text: 'on my way' }],
  };
  expect(lifeOf(alarm).map(({ kind, by: who, content }) => [kind, who, content])).toEqual([
    ['OPENED', null, null],
    ['ESCALATED', null, null],
    ['ACKNOWLEDGED', 'Ann', null],
    ['COMMENTED', 'Ann', 'on my way'],
    ['COUNTED', null, null],
    ['CLEARED', null, 'RULE_FALSE'],
  ]);
});

test.for([
  { what: 'a short alarm', last: 4, nowAt: 600, from: -15, to: 19 },
  { what: 'a long alarm', last: 120, nowAt: 600, from: -60, to: 180 },
  { what: 'an alarm of a moment ago', last: 4, nowAt: 6, from: -15, to: 6 },
])('$what has half of its length around it', ({ last, nowAt, from, to }) => {
  const times = { ...opened, lastTriggered: at(last) };
  expect(spanOf(times, Date.parse(at(nowAt)))).toEqual({
    fromMs: Date.parse(at(from)),
    toMs: Date.parse(at(to)),
  });
});
