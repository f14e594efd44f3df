// Output notes: one line for the operator, every note for the owner.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import { processingLogRows } from '../../storage/records/rows/payload-notes.ts';
import { noteUnreadable } from './outputs.ts';
import { openTestRecords, type TestRecords } from '../../storage/records/testing-records.ts';
import { telemetryOf } from '../../telemetry/testing-telemetry.ts';

let opened: TestRecords;
beforeAll(async () => {
  opened = await openTestRecords();
});
afterAll(() => opened.close());

test('the operator gets one line, the owner every note', async () => {
  const { db } = opened.records;
  const lines: string[] = [];
  const telemetry = telemetryOf({
    backgroundFailed: (what, error) => void lines.push(`${what}: ${String(error)}`),
    noted: ({ source }) => void lines.push(source),
  });
  const noteOf = (id: string): ProcessingLogEntry => ({
    id,
    deviceId: 'd',
    timestamp: 1,
    correlationId: id,
    level: 'ERROR',
    source: 'OUTPUT',
    message: `message ${id}`,
  });
  await noteUnreadable([noteOf('a'), noteOf('b')], db, telemetry);
  expect(lines).toEqual([
    'queueing outputs: Error: 2 uplinks, the first: message a',
    'OUTPUT',
    'OUTPUT',
  ]);
  const { rows } = await processingLogRows.list(
    db,
    { deviceId: 'd' },
    { page: 0, size: 9, sort: [] },
  );
  expect(rows.map(({ id }) => id).sort()).toEqual(['a', 'b']);
});
