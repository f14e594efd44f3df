// Delivery outcomes: the log, the notes and the counters say the same.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TriedDelivery } from '../model/delivery.ts';
import { findDelivery, insertDeliveries } from '../records/rows/deliveries.ts';
import { listProcessingLog } from '../records/rows/processing-log.ts';
import { saveOutcomes } from './delivery-outcomes.ts';
import { openTestRecords, type TestRecords } from './testing-records.ts';

let opened: TestRecords;
beforeAll(async () => {
  opened = await openTestRecords();
});
afterAll(() => opened.close());

test('an outcome is stored, noted and counted', async () => {
  const { db } = opened.records;
  const draft = {
    idempotencyKey: 'k',
    connectorId: 'c',
    organizationId: 'o',
    workspaceId: 'w',
    deviceId: 'd',
    correlationId: 'x',
    cause: 'DATA_FLOW',
    context: {} as never,
  } as const;
  await insertDeliveries(db, [{ id: 'id', draft }], 1);
  const delivery = await findDelivery(opened.records.db, { sequence: 1 });
  if (delivery === undefined) throw new Error('the delivery is missing');
  const seen: unknown[] = [];
  const telemetry = {
    deliveryTried: (state: string, seconds: number) => seen.push([state, seconds]),
    noted: (note: { level: string; source: string }) => seen.push([note.level, note.source]),
  };
  const outcome = {
    sequence: 1,
    state: 'DEAD',
    tries: 3,
    nextAt: 9,
    reason: 'refused',
    answer: null,
    payload: null,
    updated: 9,
  };
  const tried = [{ delivery, outcome, tookMs: 2_500 } as unknown as TriedDelivery];
  await saveOutcomes(tried, { db, telemetry, newId: () => 'note' });
  expect(await findDelivery(opened.records.db, { sequence: 1 })).toMatchObject({
    state: 'DEAD',
    tries: 3,
    reason: 'refused',
  });
  const { rows } = await listProcessingLog(db, { deviceId: 'd' }, { page: 0, size: 9, sort: [] });
  expect(rows).toMatchObject([{ level: 'ERROR', source: 'OUTPUT', correlationId: 'x' }]);
  expect(seen).toEqual([
    ['DEAD', 2.5],
    ['ERROR', 'OUTPUT'],
  ]);
});
