// Idempotency recovery: what the journal contains of unanswered requests is kept with their keys.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DurableEntry, durablePart } from '../../model/journal-entry.ts';
import { keptAnswerRows } from '../../storage/records/rows/idempotency-keys.ts';
import { openTestRecords, type TestRecords } from '../../storage/records/testing-records.ts';
import { telemetryOf } from '../../telemetry/testing-telemetry.ts';
import { createIdempotencyRecords, recoverDurableParts } from './idempotency.ts';

let opened: TestRecords;
beforeAll(async () => {
  opened = await openTestRecords();
});
afterAll(() => opened.close());

const partOf = (id: string, part: string, position: number, duplicateKey?: string) =>
  ({
    deviceId: 'd',
    position,
    receivedAt: 100 + position,
    samples: [{ correlationId: `sample ${position}` }],
    notes: [],
    duplicates: 0,
    trace: {
      duplicateKey: duplicateKey ?? durablePart.toDuplicateKey({ id, part, contentHash: 'h' }),
    },
  }) as unknown as DurableEntry;

function journal(entries: readonly DurableEntry[]) {
  const readFrom: number[] = [];
  return {
    readFrom,
    position: entries.length,
    async *entriesFrom(position: number) {
      readFrom.push(position);
      yield entries.slice(position);
    },
  };
}

test('parts behind the reservation are kept, with the position up to which the journal was read', async () => {
  const { records } = opened;
  const telemetry = telemetryOf({});
  const at = (position: number) =>
    createIdempotencyRecords({ records, log: { position }, telemetry });
  const key = (id: string) => ({ id, bodyHash: 'b', firstSeenAt: 1, answer: null });
  await at(1).reserve(key('cut'));
  await at(2).reserve(key('answered'));
  await at(2).complete('answered', { status: 201, body: {} });
  const known = { part: 'p1', contentHash: 'h', receivedAt: 5, correlationId: 'c', samples: 9 };
  await at(2).interrupt('cut', [known]);
  const store = journal([
    partOf('cut', 'before', 0),
    partOf('cut', 'p1', 1),
    partOf('cut', 'p2', 2),
    partOf('answered', 'p1', 3),
    partOf('', '', 4, 'mqtt abc'),
  ]);
  await recoverDurableParts(records.db, store, 2);
  expect(store.readFrom).toEqual([1]);
  const found = await keptAnswerRows.find(records.db, 'cut', 0);
  const recovered = { part: 'p2', contentHash: 'h', receivedAt: 102, samples: 1, stored: 0 };
  expect(found?.durable).toEqual([known, { ...recovered, correlationId: 'sample 2' }]);
  expect(await keptAnswerRows.unanswered(records.db, 0)).toMatchObject([
    { id: 'cut', journalPosition: 5 },
  ]);
});

test('without unanswered requests the journal is not read', async () => {
  const { records } = opened;
  const store = journal([]);
  await recoverDurableParts(records.db, store, 2 * 24 * 3_600_000);
  expect(store.readFrom).toEqual([]);
});
