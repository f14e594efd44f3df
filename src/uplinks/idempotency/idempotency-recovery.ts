// Idempotency recovery: finds durable parts of unanswered requests in the journal after a crash (contract 35).
import type { EpochMs } from '../../model/instant.ts';
import type { DurableEntry } from '../../model/journal-entry.ts';
import { durablePart, type StoredPart } from '../../model/request-part.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import { transaction } from '../../storage/records/transaction.ts';
import { saveDurableParts, unansweredKeys } from '../../storage/records/rows/idempotency-keys.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import { idempotencyKeptMs } from './idempotency.ts';

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
