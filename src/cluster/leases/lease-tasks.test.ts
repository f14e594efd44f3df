// Held work: workers begin with leases of their family, and end before another node has them.
import { expect, test } from 'vitest';
import { createHeldWork, leaseOfConnector, leaseOfOperation, workLeases } from './lease-tasks.ts';
import { type Lease, type LeaseName, leaseOfWorkspace, type LeasesChanged } from './leases.ts';

function started(beforeLoss?: () => Promise<void>) {
  const listeners: LeasesChanged[] = [];
  const seen: string[] = [];
  const failures: string[] = [];
  const work = createHeldWork(
    { onChange: (listener) => void listeners.push(listener) },
    (what, error) => failures.push(`${what}: ${String(error)}`),
    beforeLoss,
  );
  const ending = Promise.withResolvers<void>();
  work.follow({
    family: 'workspaces/',
    gained: (leases) => void seen.push(`+ ${leases.map(({ name }) => name).join(' ')}`),
    async lost(names) {
      seen.push(`- ${names.join(' ')} ${names.some(work.holds)}`);
      await ending.promise;
    },
  });
  const change: LeasesChanged = async (gained, lost) => {
    for (const listener of listeners) await listener(gained, lost);
  };
  return { work, change, seen, failures, end: ending.resolve, fail: ending.reject };
}

function lease(name: LeaseName, epoch = 1) {
  const state = { isValid: true };
  const held: Lease = { name, epoch, isValid: () => state.isValid };
  return { held, expire: () => void (state.isValid = false) };
}

test('a worker is notified of leases of its family only', async () => {
  const { work, change, seen } = started();
  await change([lease('workspaces/1').held, lease('demo').held, lease('workspaces/2').held], []);
  expect(seen).toEqual(['+ workspaces/1 workspaces/2']);
  expect([work.holds('workspaces/1'), work.holds('demo'), work.holds('workspaces/3')]).toEqual([
    true,
    true,
    false,
  ]);
});

test('what must be done before leases leave is done while their workers still work', async () => {
  const before = Promise.withResolvers<void>();
  const { change, seen, end } = started(() => before.promise);
  const { held } = lease('workspaces/1');
  await change([held], []);
  const changed = change([], [held]);
  await Promise.resolve();
  expect(seen).toEqual(['+ workspaces/1']);
  before.resolve();
  end();
  await changed;
  expect(seen).toEqual(['+ workspaces/1', '- workspaces/1 false']);
});

test('a lease that leaves is not held while its worker ends, which the change waits for', async () => {
  const { work, change, seen, end } = started();
  const { held } = lease('workspaces/1');
  await change([held], []);
  const order: string[] = [];
  const changed = change([], [held]).then(() => order.push('changed'));
  await Promise.resolve();
  expect(work.holds('workspaces/1')).toBe(false);
  order.push('ended');
  end();
  await changed;
  expect(order).toEqual(['ended', 'changed']);
  expect(seen).toEqual(['+ workspaces/1', '- workspaces/1 false']);
});

test('a lease that is over by the clock is not held', async () => {
  const { work, change } = started();
  const { held, expire } = lease('workspaces/1');
  await change([held], []);
  expire();
  expect(work.holds('workspaces/1')).toBe(false);
});

test('a lease with a new epoch ends and begins', async () => {
  const { work, change, seen, end } = started();
  const first = lease('workspaces/1').held;
  await change([first], []);
  end();
  await change([lease('workspaces/1', 2).held], [first]);
  expect(seen).toEqual(['+ workspaces/1', '- workspaces/1 false', '+ workspaces/1']);
  expect(work.holds('workspaces/1')).toBe(true);
});

test('a worker that cannot end is reported, and the lease moves', async () => {
  const { change, failures, fail } = started();
  const { held } = lease('workspaces/1');
  await change([held], []);
  fail(new Error('stuck'));
  await change([], [held]);
  expect(failures).toEqual(['ending work: Error: stuck']);
});

test('leases of ids are among the leases that nodes take, and all are used', () => {
  const ids = Array.from({ length: 5_000 }, (_, n) => `id ${n}`);
  const names = new Set(
    ids.flatMap((id) => [leaseOfConnector(id), leaseOfOperation(id), leaseOfWorkspace(id)]),
  );
  expect([...names, 'maintenance', 'demo'].toSorted()).toEqual(workLeases.toSorted());
});
