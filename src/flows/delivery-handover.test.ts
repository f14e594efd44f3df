// Delivery handover: deliveries of rules keep their order, in the records or in the log after a crash.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestLog, storedDelivery, testFolder } from '../delivery-log/testing-log.ts';
import type { WaitingDelivery } from '../deliveries/waiting-delivery.ts';
import { insertDeliveries } from '../records/rows/deliveries.ts';
import { setTimer } from '../structures/timers.ts';
import { createDeliveryHandover } from './delivery-handover.ts';
import { openTestRecords, type TestRecords } from './testing-records.ts';

let records: TestRecords;
beforeAll(async () => {
  records = await openTestRecords();
});
afterAll(() => records.close());

test('what a crash left in the records is behind what was moved to the log before', async () => {
  const folder = testFolder();
  const { log } = await openTestLog(folder.directory);
  const moved = storedDelivery(1, { sequence: 100.5, cause: 'RULE' });
  log.append(moved);
  const draft = {
    ...{ idempotencyKey: 'k', connectorId: 'c', organizationId: 'o', workspaceId: 'w' },
    ...{ deviceId: 'd', correlationId: 'c', cause: 'RULE' as const, context: {} },
  };
  await insertDeliveries(records.records.db, [{ id: 'left', draft }], 0);
  const added: WaitingDelivery[] = [];
  const handover = await createDeliveryHandover({
    ...{ records: records.records, log, from: 100, newestWaiting: moved.sequence, setTimer },
    deliverer: { waitingOf: () => 0, add: (waiting) => void added.push(...waiting) },
    position: () => 101,
    newId: () => 'id',
    now: () => 0,
    failed: (error) => expect.fail(String(error)),
  });
  await handover.move();
  expect(added.map(({ id }) => id)).toEqual(['left']);
  expect(added[0]!.sequence).toBeGreaterThan(moved.sequence);
  await handover.close();
  await log.close();
  folder.remove();
});
