// Leases of one process: the conformance suite, and that nothing ends before it closes.
import { expect, test } from 'vitest';
import { leasesMustBehave } from './conformance/leases.conformance.ts';
import { partitionCount, partitionOf } from '../../model/node-messages.ts';
import { leaseOfDevice } from './leases.ts';
import { createOneNodeLeases } from './one-node-leases.ts';

const node = { id: 'only', url: 'http://only' };

leasesMustBehave(async (names) => {
  const leases = createOneNodeLeases(node);
  leases.want(names);
  return leases;
});

test('the partition of a device is the same on every node and after every update', () => {
  expect(partitionCount).toBe(256);
  expect(partitionOf('00000000-0000-4000-8000-000000000000')).toBe(0x17);
  expect(partitionOf('123456789')).toBe(0x26);
  expect(leaseOfDevice('123456789')).toBe('devices/38');
});
