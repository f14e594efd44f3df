// Output notes and outdated deliveries: short work on the records.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import { findDelivery, insertDeliveries } from '../records/rows/deliveries.ts';
import { listProcessingLog } from '../records/rows/processing-log.ts';
import { dropOutdatedDeliveries } from './outdated-deliveries.ts';
import { noteUnreadable } from './output-notes.ts';
import { openTestRecords, type TestRecords } from './testing-records.ts';

let opened: TestRecords;
beforeAll(async () => {
  opened = await openTestRecords();
});
afterAll(() => opened.close());

test('the operator gets one line, the owner every note', async () => {
  const { db } = opened.records;
  const lines: string[] = [];
  const telemetry = {
    backgroundFailed: (what: string, error: unknown) => lines.push(`${what}: ${String(error)}`),
    noted: ({ source }: { source: string }) => lines.push(source),
  };
  const noteOf = (id: string): ProcessingLogEntry => ({
    id,
    deviceId: 'd',
    timestamp: 1,
    correlationId: id,
    level: 'ERROR',
    source: 'OUTPUT',
    message: `message ${id}`,
  });
  await noteUnreadable([noteOf('a'), noteOf('b')], { db, telemetry });
  expect(lines).toEqual([
    'queueing outputs: Error: 2 uplinks, the first: message a',
    'OUTPUT',
    'OUTPUT',
  ]);
  const { rows } = await listProcessingLog(db, { deviceId: 'd' }, { page: 0, size: 9, sort: [] });
  expect(rows.map(({ id }) => id).sort()).toEqual(['a', 'b']);
});

test('deliveries are dropped until none is outdated', async () => {
  const { db } = opened.records;
  const made = Array.from({ length: 501 }, (_, index) => ({
    id: `${index}`,
    refused: 'dead at once',
    draft: {
      ...{ idempotencyKey: `${index}`, connectorId: 'c', organizationId: 'o', workspaceId: 'w' },
      ...{ deviceId: 'd', correlationId: 'x', context: {} as never },
      cause: 'DATA_FLOW' as const,
    },
  }));
  await insertDeliveries(db, made, 1);
  let pauses = 0;
  await dropOutdatedDeliveries(db, 2, async () => (pauses += 1));
  expect(await findDelivery(opened.records.db, { sequence: 1 })).toBeDefined();
  await dropOutdatedDeliveries(db, 400 * 86_400_000, async () => (pauses += 1));
  expect(await findDelivery(opened.records.db, { sequence: 501 })).toBeUndefined();
  expect(pauses).toBe(1);
});
