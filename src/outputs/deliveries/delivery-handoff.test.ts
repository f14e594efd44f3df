// Delivery handover: deliveries of rules keep their order, in the records or in the log after a crash.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestLog, storedDelivery, testFolder } from '../../storage/delivery-log/testing-log.ts';
import type { StoredDelivery } from '../../storage/delivery-log/record.ts';
import type { WaitingDelivery } from './attempts/waiting-delivery.ts';
import { onTheirWayRows } from '../../storage/records/rows/deliveries.ts';
import { transaction } from '../../storage/records/records.ts';
import { setTimer } from '../../structures/timers.ts';
import { DeliveryHandover } from './delivery-handoff.ts';
import { openTestRecords, type TestRecords } from '../../storage/records/testing-records.ts';

let records: TestRecords;
beforeAll(async () => {
  records = await openTestRecords();
});
afterAll(() => records.close());

const draft = {
  idempotencyKey: 'k',
  connectorId: 'c',
  organizationId: 'o',
  workspaceId: 'w',
  deviceId: 'd',
  correlationId: 'c',
  cause: 'RULE' as const,
  context: {},
};

/** A handover in a folder for the test, with what it gave to the deliverer. */
async function openHandover(parts: { readonly moved?: StoredDelivery } = {}) {
  const folder = testFolder();
  const { log } = await openTestLog(folder.directory);
  const { moved } = parts;
  if (moved !== undefined) log.append(moved);
  const added: WaitingDelivery[] = [];
  let looks = 0;
  const db = records.records.db.withPlugin({
    transformQuery({ node }) {
      if (node.kind === 'SelectQueryNode') looks += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const handover = new DeliveryHandover({
    left: await onTheirWayRows.count(db),
    records: { db },
    log,
    from: 100,
    newestWaiting: moved?.sequence,
    setTimer,
    deliverer: { refuse: () => undefined, add: (waiting) => void added.push(...waiting) },
    position: () => 101,
    newId: randomUUID,
    now: () => 0,
    failed: (error) => expect.fail(String(error)),
  });
  await handover.move();
  return {
    handover,
    added,
    looks: () => looks,
    async close() {
      await handover.close();
      await log.close();
      folder.remove();
    },
  };
}

test('what a crash left in the records is behind what was moved to the log before', async () => {
  const moved = storedDelivery(1, { sequence: 100.5, cause: 'RULE' });
  await onTheirWayRows.insert(records.records.db, [{ id: 'left', draft }], 0);
  const { added, close } = await openHandover({ moved });
  expect(added.map(({ id }) => id)).toEqual(['left']);
  expect(added[0]!.sequence).toBeGreaterThan(moved.sequence);
  await close();
});

test('deliveries of a transaction are looked for after its commit, and never after a rollback', async () => {
  const { db } = records.records;
  const { handover, added, looks, close } = await openHandover();
  const before = looks();
  const rolledBack = transaction(db, async (step) => {
    await handover.enqueue([draft], step);
    throw new Error('no');
  });
  await expect(rolledBack).rejects.toThrow('no');
  await transaction(db, async () => undefined);
  await handover.move();
  expect(looks()).toBe(before);
  await transaction(db, async (step) => {
    await handover.enqueue([draft], step);
    await handover.move();
    expect(looks()).toBe(before);
  });
  await handover.move();
  expect(added).toHaveLength(1);
  await close();
});

test('without a transaction of the caller they are durable when the call resolves', async () => {
  const { handover, added, close } = await openHandover();
  await handover.enqueue([draft, draft, { ...draft, idempotencyKey: 'l' }]);
  await handover.move();
  expect(added).toHaveLength(2);
  await close();
});
