// Delivery intake: who waits for the disk, what is rejected, and when the deliverer looks.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { delivererLimits } from '../deliveries/delivery-worker.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import { findDelivery } from '../records/rows/deliveries.ts';
import { createDeliveryIntake } from './delivery-intake.ts';
import { openTestRecords, type TestRecords } from './testing-records.ts';

const draftOf = (key: string, connectorId = 'c'): DeliveryDraft => ({
  idempotencyKey: key,
  connectorId,
  organizationId: 'o',
  workspaceId: 'w',
  deviceId: 'd',
  correlationId: key,
  cause: 'DATA_FLOW',
  context: {},
});

let opened: TestRecords;
let wakes: number;
let enqueue: ReturnType<typeof createDeliveryIntake>;
beforeEach(async () => {
  opened = await openTestRecords();
  wakes = 0;
  let ids = 0;
  const { waitingPerConnectorMax } = delivererLimits;
  enqueue = createDeliveryIntake({
    records: opened.records,
    deliverer: {
      waitingOf: (id) => (id === 'crowded' ? waitingPerConnectorMax : waitingPerConnectorMax - 1),
      wake: () => void (wakes += 1),
    },
    newId: () => `id ${(ids += 1)}`,
    now: () => 5,
  });
});
afterEach(() => opened.close());

const stored = (sequence: number) => findDelivery(opened.records.db, { sequence });

test.each(['durable', 'lazy'] as const)(
  '%s: in the log, and the deliverer looks',
  async (write) => {
    await enqueue([draftOf('a'), draftOf('b')], write);
    expect(await stored(1)).toMatchObject({ id: 'id 1', state: 'PENDING', nextAt: 5 });
    expect(await stored(2)).toMatchObject({ id: 'id 2', state: 'PENDING' });
    expect(wakes).toBe(1);
    await enqueue([draftOf('a')], write);
    expect(await stored(3)).toBeUndefined();
  },
);

test('a transaction of the caller: the deliverer looks after its end, and a rollback leaves nothing', async () => {
  const { db, transactionsEnded } = opened.records;
  await db.transaction().execute(async (step) => {
    await enqueue([draftOf('a')], step);
    expect(wakes).toBe(0);
  });
  await transactionsEnded();
  expect(wakes).toBe(1);
  const failing = db.transaction().execute(async (step) => {
    await enqueue([draftOf('b')], step);
    throw new Error('rolled back');
  });
  await expect(failing).rejects.toThrow('rolled back');
  expect(await stored(1)).toBeDefined();
  expect(await stored(2)).toBeUndefined();
});

test('a connector with 200,000 waiting deliveries gets no more: they are dead at once', async () => {
  await enqueue([draftOf('a', 'crowded'), draftOf('b')], 'durable');
  const reason = 'more than 200000 deliveries of this connector waited already';
  expect(await stored(1)).toMatchObject({ state: 'DEAD', reason });
  expect(await stored(2)).toMatchObject({ state: 'PENDING', reason: null });
});
