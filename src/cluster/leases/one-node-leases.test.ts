// Leases of one process: the conformance suite, and that nothing ends before it closes.
import { expect, test } from 'vitest';
import { leasesMustBehave } from './conformance/leases.conformance.ts';
import { partitionOf } from '../../model/node-messages.ts';
import { leaseOfWorkspace } from './leases.ts';
import { createOneNodeLeases } from './one-node-leases.ts';

const node = { id: 'only', url: 'http://only' };

leasesMustBehave(async (names) => {
  const leases = createOneNodeLeases(node);
  leases.want(names);
  return leases;
});

test('partitions are the same on every node and after every update', () => {
  expect(partitionOf('00000000-0000-4000-8000-000000000000')).toBe(0x17);
  expect(partitionOf('123456789')).toBe(0x26);
  expect(leaseOfWorkspace('123456789')).toBe('workspaces/38');
});
