// Idempotency records: keys and answers in the database, and durable parts of unanswered requests after a crash (contract 35).
import { change } from '../../inventory/record-change.ts';
import type { EpochMs } from '../../model/instant.ts';
import { type DurableEntry, durablePart, type StoredPart } from '../../model/journal-entry.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import {
  findKeptAnswer,
  insertKeptAnswer,
  removeKeptAnswer,
  saveDurableParts,
  saveKeptAnswer,
  unansweredKeys,
} from '../../storage/records/rows/idempotency-keys.ts';
import { transaction } from '../../storage/records/transaction.ts';
import type { Telemetry } from '../../telemetry/events.ts';
import { idempotencyKeptMs, type IdempotencyRecords } from './idempotency.ts';

/** Durable parts of one request by name. */
type PartsByName = Map<string, StoredPart>;

/** Call once at the start, before the first request. */
export async function recoverDurableParts(
  db: RecordsDb,
  log: Pick<EntryLog, 'position' | 'entriesFrom'>,
  now: EpochMs,
): Promise<void> {
  const unanswered = await unansweredKeys(db, now - idempotencyKeptMs);
  if (unanswered.length === 0) return;
  const requests = new Map<string, PartsByName>();
  let from = log.position;
  for (const { id, durable, journalPosition } of unanswered) {
    requests.set(id, new Map(durable.map((stored) => [stored.part, stored])));
    from = Math.min(from, journalPosition);
  }
  for await (const entries of log.entriesFrom(from))
    for (const entry of entries) addPart(entry, requests);
  const { position } = log;
  await transaction(db, async (step) => {
    for (const [id, parts] of requests)
      await saveDurableParts(step.db, id, [...parts.values()], position);
  });
}

/** Adds the entry to the request of which it is a part, unless that part is known. */
function addPart(
  { trace, receivedAt, samples, metrics }: DurableEntry,
  requests: ReadonlyMap<string, PartsByName>,
): void {
  const name = durablePart.fromDuplicateKey(trace?.duplicateKey ?? '');
  const parts = name && requests.get(name.id);
  if (name === undefined || parts === undefined || parts.has(name.part)) return;
  const correlationId = metrics?.uplinkId ?? samples[0]?.correlationId ?? null;
  const { part, contentHash } = name;
  const stored = samples.filter((sample) => sample.stored).length;
  const counts = { samples: samples.length, stored };
  parts.set(part, { part, contentHash, receivedAt, correlationId, ...counts });
}

// Idempotency records: keys and answers in the database, each with the journal position at its reservation.

export function createIdempotencyRecords(parts: {
  readonly records: Records;
  readonly log: Pick<EntryLog, 'position'>;
  readonly telemetry: Telemetry;
}): IdempotencyRecords {
  const { records, log, telemetry } = parts;
  const { db } = records;
  return {
    find: (id, seenAfter) => findKeptAnswer(db, id, seenAfter),
    async reserve(record) {
      await insertKeptAnswer(db, { ...record, journalPosition: log.position });
      return undefined;
    },
    complete: (id, answer, bodyHash) => saveKeptAnswer(db, id, answer, bodyHash),
    interrupt: (id, durable) => saveDurableParts(db, id, durable),
    release: (id) => removeKeptAnswer(db, id),
    create: (kept, work) =>
      change(records, async (inventory) => {
        const answer = await work(inventory);
        const journalPosition = log.position;
        await insertKeptAnswer(inventory.db, { ...kept, answer, journalPosition });
        return answer;
      }),
    failed: (error) => telemetry.backgroundFailed('saving the answer of an Idempotency-Key', error),
  };
}
