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
