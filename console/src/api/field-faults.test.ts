// Field faults: the platform's messages, taken apart into the members that they name.
import { expect, test } from 'vitest';
import { faultAt, faultsOf, unmarkedIn } from './field-faults.ts';

const cases = [
  {
    message: 'body webhookProperties.uri: must be an http or https URL',
    byPath: { 'webhookProperties.uri': 'must be an http or https URL' },
  },
  {
    message: 'body name: is too short; body name: must match; body type: is needed',
    byPath: { name: 'is too short', type: 'is needed' },
  },
  {
    message: 'body columns[0].path: is needed',
    byPath: { 'columns.0.path': 'is needed' },
  },
  {
    message: '10.0.0.1 may not be connected to',
    byPath: {},
    rest: '10.0.0.1 may not be connected to',
  },
] as const;

test.each(cases)('$message', ({ message, byPath, ...others }) => {
  const faults = faultsOf(new Error(message));
  expect(Object.fromEntries(faults.byPath)).toEqual(byPath);
  expect(faults.rest).toBe('rest' in others ? others.rest : undefined);
});

test('a fault below a path is shown at the path', () => {
  const faults = faultsOf(new Error('body mailProperties.recipients.1: must be an e-mail address'));
  expect(faultAt(faults, 'mailProperties.recipients')).toBe('1: must be an e-mail address');
  expect(faultAt(faults, 'mailProperties.subject')).toBeUndefined();
});

const twoFaults = 'body name: is too short; body alarmProperties.key.0: must match';
test.each([
  ['nothing marked: all of it', twoFaults, [], twoFaults],
  [
    'one at its field: the other',
    twoFaults,
    ['is too short'],
    'body alarmProperties.key.0: must match',
  ],
  ['all at their fields: nothing', twoFaults, ['is too short', '0: must match'], undefined],
  ['about the body as a whole', 'Not now', ['is too short'], 'Not now'],
])('review console editor: the bar says what no field says, %s', (_, message, marks, left) => {
  expect(unmarkedIn(new Error(message), marks)).toBe(left);
});
