// Alarm draft: the rule of a limit, its alarm, and round limits.
import { expect, test } from 'vitest';
import {
  alarmRule,
  type AlarmSource,
  reachOf,
  roundedIn,
  simulatedRule,
  watchedRule,
} from './alarm-draft.ts';

const source: AlarmSource = {
  deviceId: '02aa',
  topic: 'default',
  dataKey: 'temperature',
  title: 'Temperature',
  unit: '°C',
};

test('a limit becomes a rule, whose alarm is created with it', () => {
  const limit = { limit: 6.5, isAbove: false, holdsFor: 'PT5M' };
  const rule = watchedRule(source, limit, 'Cold', '01');
  expect(rule.actions).toBeUndefined();
  expect(rule.logic.logicBlocks).toEqual([
    {
      conditions: [
        {
          operandFirst: { type: 'DATA_SOURCE', dataSourceId: 'value' },
          operator: 'LT',
          operandSecond: { type: 'CONSTANT', value: 6.5, valueType: 'NUMERICAL' },
        },
      ],
      holdsFor: 'PT5M',
    },
  ]);
  const recipients = { emails: ['anna@example.org'], onCallIds: ['46aa'] };
  const whole = alarmRule(rule, { severity: 'MAJOR', recipients });
  expect(whole.logic.logicBlocks).toMatchObject([{ actionIds: ['new:0'] }]);
  expect(whole.actions).toMatchObject([
    {
      outputConnector: {
        type: 'ALARM',
        alarmProperties: {
          severity: 'MAJOR',
          notify: [
            { on: 'OPENED', emails: ['anna@example.org'] },
            { on: 'OPENED', onCallId: '46aa' },
          ],
        },
      },
    },
  ]);
});

test('without recipients and duration, nothing is said of them', () => {
  const limit = { limit: 1, isAbove: true, holdsFor: '' };
  const rule = watchedRule(source, limit, 'Hot', '01');
  expect(rule.logic.logicBlocks?.[0]).not.toHaveProperty('holdsFor');
  const recipients = { emails: [], onCallIds: [] };
  expect(simulatedRule(rule).actions).toMatchObject([
    { outputConnector: { sendConsecutiveAlerts: false } },
  ]);
  const [action] = alarmRule(rule, { severity: 'INFO', recipients }).actions ?? [];
  expect(action?.outputConnector?.alarmProperties).not.toHaveProperty('notify');
});

test.each([
  [6.5321, 10, 6.5],
  [6.5321, 0.9, 6.532],
  [1_234.56, 5_000, 1_235],
  [-0.000123, 0.001, -0.00012],
  [21.456, 0, 21.5],
  [0, 0, 0],
])('a limit of %d in a range of %d is %d', (value, range, expected) => {
  expect(roundedIn(value, range)).toBe(expected);
});

test('the reach leaves out gaps', () => {
  expect(reachOf([[null, undefined], []])).toBeUndefined();
  expect(reachOf([[1, null, 3], [5]])).toEqual({ least: 1, greatest: 5, mean: 3 });
});
