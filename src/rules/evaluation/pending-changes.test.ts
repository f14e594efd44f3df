// Pending changes: which record changes concern rules, and what a failed refresh keeps.
import { expect, test } from 'vitest';
import type { RecordChange } from '../../model/record.ts';
import { PendingChanges } from './rule-registry.ts';

const change = (
  kind: Exclude<RecordChange['kind'], 'member' | 'conditionState'>,
  action: RecordChange['action'],
): RecordChange => ({
  kind,
  id: `${kind} 1`,
  action,
});

test.each([
  ['rule', 'updated', 'rules'],
  ['rule', 'created', 'rules'],
  ['outputConnector', 'updated', 'used'],
  ['customLogic', 'deleted', 'used'],
  ['device', 'updated', 'devices'],
  ['tag', 'deleted', 'tags'],
  ['tag', 'created', undefined],
  ['place', 'updated', 'places'],
  ['place', 'created', undefined],
  ['dataFlow', 'updated', undefined],
] as const)('a %s that is %s is one of: %s', (kind, action, group) => {
  const pending = new PendingChanges();
  expect(pending.take().isAll).toBe(true);
  pending.recordChanged(change(kind, action));
  const { isAll, ...taken } = pending.take();
  expect(isAll).toBe(false);
  for (const [name, ids] of Object.entries(taken))
    expect([...ids]).toEqual(name === group ? [`${kind} 1`] : []);
});

test('changes that arrive while others are applied wait for the next refresh', () => {
  const pending = new PendingChanges();
  const first = pending.take();
  pending.recordChanged(change('outputConnector', 'updated'));
  expect([...first.used]).toEqual([]);
  expect([...pending.take().used]).toEqual(['outputConnector 1']);
});

test('a failed refresh puts back its devices and makes the next one read every rule', () => {
  const pending = new PendingChanges();
  pending.take();
  pending.recordChanged(change('device', 'updated'));
  const failed = pending.take();
  expect(pending.take().devices.size).toBe(0);
  pending.putBack(failed);
  const again = pending.take();
  expect(again.isAll).toBe(true);
  expect([...again.devices]).toEqual(['device 1']);
});
