// Known devices: kept by organization until a record changes, and no more than the limit.
import { expect, test } from 'vitest';
import type { BackfillDevice } from './backfill-batches.ts';
import { KnownDevices } from './named-devices.ts';

function deviceOf(organizationId: string, id: string): BackfillDevice {
  const origin = { organizationId, workspaceId: 'w', dataFlowId: 'f' };
  const kept = { keptDays: null, implausibleTimes: 'KEEP', calculates: false } as const;
  return { id, origin, storedTopics: '*', ...kept };
}

test('a device is known by its name in its organization only', () => {
  const known = new KnownDevices(() => 0);
  const [a, b] = [deviceOf('o1', 'a'), deviceOf('o2', 'b')];
  known.set('sensor', a, 0);
  known.set('sensor', b, 0);
  expect(known.of('o1').get('sensor')).toEqual(a);
  expect(known.of('o2').get('sensor')).toEqual(b);
  expect(known.of('o3').get('sensor')).toBeUndefined();
  expect(known.of('o1').get('other')).toBeUndefined();
});

test('devices of one data flow share its origin', () => {
  const known = new KnownDevices(() => 0);
  for (const id of ['a', 'b']) known.set(id, deviceOf('o', id), 0);
  const of = known.of('o');
  expect(of.get('a')?.origin).toBe(of.get('b')?.origin);
});

test('a change of a record empties it, and a device that was found before the change is not kept', () => {
  let revision = 0;
  const known = new KnownDevices(() => revision);
  known.set('a', deviceOf('o', 'a'), 0);
  revision++;
  expect(known.of('o').get('a')).toBeUndefined();
  known.set('a', deviceOf('o', 'a'), 0);
  expect(known.of('o').get('a')).toBeUndefined();
  known.set('a', deviceOf('o', 'a'), 1);
  expect(known.of('o').get('a')?.id).toBe('a');
});

test('at the limit, those that are kept stay, of whichever organization', () => {
  let revision = 0;
  const known = new KnownDevices(() => revision, 3);
  const set = (organization: string, id: string) =>
    known.set(id, deviceOf(organization, id), revision);
  const kept = () =>
    ['a', 'b', 'c', 'd'].filter((id) => known.of('o1').get(id) ?? known.of('o2').get(id));
  set('o1', 'a');
  set('o1', 'a');
  set('o2', 'b');
  set('o1', 'c');
  set('o2', 'd');
  expect(kept()).toEqual(['a', 'b', 'c']);
  revision++;
  set('o2', 'd');
  expect(kept()).toEqual(['d']);
});
