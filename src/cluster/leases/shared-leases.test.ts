// Shared leases against the table of tests: the conformance suites, and failures of the table.
import { expect, test } from 'vitest';
import { clusterLeaseMs, openLeaseCluster } from './testing-lease-cluster.ts';
import { leasesMustBehave, leasesMustBeShared } from './conformance/leases.conformance.ts';
import { manualTimers } from '../../structures/testing-timers.ts';
import type { LeaseTable } from './leases.ts';
import { SharedLeases } from './shared-leases.ts';
import { TableModel } from './testing-lease-table.ts';

const timers = manualTimers();
const { setTimer } = timers;
const events = { failed: () => undefined, superseded: () => undefined, changed: () => undefined };

function openLeases(openTable: () => Promise<LeaseTable>, now: () => number, takesNone = false) {
  const node = { id: takesNone ? 'b' : 'a', url: 'http://a' };
  const repeating = { setTimer, setRepeatingTimer: setTimer };
  return new SharedLeases({
    node,
    openTable,
    leaseMs: clusterLeaseMs,
    now,
    takesNone,
    ...repeating,
    events,
  });
}

leasesMustBehave(async (names) => {
  const model = new TableModel(clusterLeaseMs, () => 0);
  const leases = openLeases(
    async () => model.openTable(),
    () => 0,
  );
  leases.want(names);
  await leases.start();
  return leases;
});

leasesMustBeShared(async () => {
  let now = 0;
  const model = new TableModel(clusterLeaseMs, () => now);
  return openLeaseCluster({
    openTable: async () => model.openTable(),
    setTime: async (time) => void (now = time),
  });
});

test('reliability 2: without the table, leases end by the clock of the node, and come back with their epoch', async () => {
  let now = 0;
  let isReachable = true;
  const model = new TableModel(clusterLeaseMs, () => now);
  const leases = openLeases(
    async () =>
      model.openTable(async (step) => {
        if (!isReachable) throw new Error('connection lost');
        return step();
      }),
    () => now,
  );
  leases.want(['workspaces/0']);
  await leases.start();
  const lease = leases.held('workspaces/0');
  const before = leases.continuity();
  isReachable = false;
  now = 7_999;
  await leases.refresh();
  expect(lease?.isValid()).toBe(true);
  expect(leases.isCutOff()).toBe(false);
  now = 8_000;
  expect(lease?.isValid()).toBe(false);
  // Nobody waits for a table that cannot tell of an owner.
  expect(leases.isCutOff()).toBe(true);
  await expect(leases.refresh()).rejects.toMatchObject({ problem: 'recordsUnreachable' });
  expect(leases.held('workspaces/0')).toBeUndefined();
  expect(leases.continuity()).toBeNaN();
  isReachable = true;
  now = 60_000;
  timers.fire();
  await expect.poll(() => leases.isCutOff()).toBe(false);
  await leases.refresh();
  expect(leases.held('workspaces/0')).toBe(lease);
  expect(lease).toMatchObject({ epoch: 1 });
  expect(lease?.isValid()).toBe(true);
  // No other node has held it.
  expect(leases.continuity()).toBe(before);
});

test('reliability 4: a node that takes none gets none from others, and nobody waits for its share', async () => {
  let now = 0;
  const model = new TableModel(clusterLeaseMs, () => now);
  const open = async () => model.openTable();
  const serving = openLeases(open, () => now);
  const shipping = openLeases(open, () => now, true);
  for (const leases of [serving, shipping])
    leases.want(['workspaces/0', 'workspaces/1', 'deliveries/0']);
  await shipping.start();
  await serving.start();
  for (const ms of [0, 1_000, 2_000, 5_000]) {
    now += ms;
    for (const leases of [shipping, serving]) {
      await leases.refresh();
      await leases.idle();
    }
    expect(serving.owners().size).toBe(3);
    expect(serving.held('workspaces/1')).toBeDefined();
    expect(shipping.held('workspaces/0')).toBeUndefined();
  }
});

test('the continuity of a node changes when others took its leases, and not when it gave some', async () => {
  let now = 0;
  const model = new TableModel(clusterLeaseMs, () => now);
  const cluster = await openLeaseCluster({
    openTable: async () => model.openTable(),
    setTime: async (time) => void (now = time),
  });
  const first = await cluster.start('first');
  const alone = first.leases.continuity();
  await cluster.start('second');
  await cluster.advance(3 * clusterLeaseMs);
  expect(first.leases.continuity()).toBe(alone);
  first.pause();
  await cluster.advance(3 * clusterLeaseMs);
  expect(first.leases.continuity()).toBeNaN();
  first.resume();
  await cluster.advance(3 * clusterLeaseMs);
  expect(first.leases.continuity()).toBeGreaterThan(alone);
  await cluster.close();
});
