// Address of the alarms: what it may say, and the filter that this means.
import { expect, test } from 'vitest';
import { alarmFilter, readAlarmSearch, withSeverity } from './alarm-search.ts';

test.for([
  [{}, {}],
  [{ state: 'open', q: '' }, {}],
  [
    { state: 'cleared', severity: 'MINOR,CRITICAL,x' },
    { state: 'cleared', severity: 'CRITICAL,MINOR' },
  ],
  [{ state: 'gone', severity: 'x', device: 7, rule: 'r' }, { rule: 'r' }],
  [{ at: '2026-03-02T08:00+01:00' }, { at: '2026-03-02T07:00:00.000Z' }],
  [{ at: 'yesterday' }, {}],
] as const)('%o is read as %o', ([address, search]) => {
  expect(readAlarmSearch(address)).toEqual(search);
});

test('a severity is added, and removed again', () => {
  const one = withSeverity({ q: 'leak' }, 'MAJOR');
  expect(one).toEqual({ q: 'leak', severity: 'MAJOR' });
  expect(withSeverity(one, 'CRITICAL').severity).toBe('CRITICAL,MAJOR');
  expect(withSeverity(one, 'MAJOR')).toEqual({ q: 'leak' });
});

test('open alarms are asked for by default, and every state for all', () => {
  expect(alarmFilter('w', {})).toEqual({ workspaceId: 'w', state: 'OPEN' });
  expect(alarmFilter('w', { state: 'all', device: 'd', rule: 'r', q: 'x' })).toEqual({
    workspaceId: 'w',
    deviceId: 'd',
    ruleId: 'r',
    search: 'x',
  });
});

test('at an earlier moment those open then are asked for, in any state of now', () => {
  const at = '2026-03-02T07:00:00.000Z';
  const asked = { workspaceId: 'w', openAt: at, severity: 'MAJOR' };
  expect(alarmFilter('w', { state: 'cleared', severity: 'MAJOR', at })).toEqual(asked);
});
