// Stateless devices are distinguished exactly, and ids in other forms are never known.
import { expect, test } from 'vitest';
import { newId } from '../../model/ids.ts';
import { StatelessDevices } from './status-follower.ts';

test('fleet 5: exactly the added devices are known', () => {
  const devices = new StatelessDevices();
  const ids = Array.from({ length: 5_000 }, () => newId('device'));
  // Ids that have either half in common with another one.
  const near = ids.flatMap((id, i) => [
    id.slice(0, 8) + ids[(i + 1) % ids.length]!.slice(8),
    `${id.slice(0, 15)}${id.endsWith('0') ? '1' : '0'}`,
  ]);
  for (const id of [...ids, ...ids]) devices.add(id);
  expect(ids.every(devices.has)).toBe(true);
  const added = new Set(ids);
  const unknown = near.filter((id) => !added.has(id));
  expect(unknown.filter(devices.has)).toEqual([]);
  for (const id of ids.slice(0, 2_500)) devices.delete(id);
  expect(ids.filter(devices.has)).toEqual(ids.slice(2_500));
});

test('fleet 5: ids in other forms and devices beyond the limit are not kept', () => {
  const devices = new StatelessDevices(2);
  for (const id of ['d1', '02zzzzzzzzzzzzzz', '0200000000000001', '0200000000000002'])
    devices.add(id);
  devices.add('0200000000000003');
  const known = ['d1', '02zzzzzzzzzzzzzz', '0200000000000001', '0200000000000003'];
  expect(known.map(devices.has)).toEqual([false, false, true, false]);
});
