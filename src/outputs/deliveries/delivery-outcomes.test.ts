// Delivery outcomes: the log, the notes and the counters say the same.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestLog, storedDelivery, testFolder } from '../../storage/delivery-log/testing-log.ts';
import { outcomeNotes } from './attempts/delivery-worker.ts';
import { deliveryOf, waitingRecord } from './attempts/waiting-delivery.ts';
import { processingLogRows } from '../../storage/records/rows/payload-notes.ts';
import { recordOutcome, saveFailureNotes } from './delivery-outcomes.ts';
import { openTestRecords, type TestRecords } from '../../storage/records/testing-records.ts';
import { telemetryOf } from '../../telemetry/testing-telemetry.ts';

let opened: TestRecords;
const folder = testFolder();
beforeAll(async () => {
  opened = await openTestRecords();
});
afterAll(async () => {
  await opened.close();
  folder.remove();
});

test('an outcome is noted, recorded and counted', async () => {
  const { db } = opened.records;
  const { log } = await openTestLog(folder.directory);
  const stored = storedDelivery(1, { id: 'id', deviceId: 'd', correlationId: 'x' });
  const waiting = waitingRecord(stored, log.append(stored));
  const delivery = deliveryOf(stored);
  const seen: unknown[] = [];
  const telemetry = telemetryOf({
    deliveryTried: (state, seconds) => void seen.push([state, seconds]),
    noted: (note) => void seen.push([note.level, note.source]),
  });
  const ended = { state: 'DEAD', tries: 3, nextAt: 9, reason: 'refused' } as const;
  const outcome = { ...ended, answer: null, payload: null, updated: 9 };
  await saveFailureNotes(
    outcomeNotes(delivery, outcome, () => 'note'),
    { db, telemetry },
  );
  const recorded: unknown[] = [];
  const parts = { log, telemetry, recorded: (one: unknown) => recorded.push(one) };
  recordOutcome({ waiting, delivery, outcome, tookMs: 2_500 }, parts);
  const row = await log.find('id');
  expect(row && (await log.read(row.place))).toMatchObject({
    state: 'DEAD',
    tries: 3,
    reason: 'refused',
    revision: 1,
    context: stored.context,
  });
  const { rows } = await processingLogRows.list(
    db,
    { deviceId: 'd' },
    { page: 0, size: 9, sort: [] },
  );
  expect(rows).toMatchObject([{ level: 'ERROR', source: 'OUTPUT', correlationId: 'x' }]);
  expect(seen).toEqual([
    ['ERROR', 'OUTPUT'],
    ['DEAD', 2.5],
  ]);
  expect(recorded).toMatchObject([{ waiting: { id: 'id' } }]);
  await log.close();
});
