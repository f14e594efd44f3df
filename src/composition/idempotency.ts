// Composes Idempotency-Key: the records keep keys and answers, the journal tells what a crash cut off.
import type { Parts } from './platform-parts.ts';
import {
  idempotency,
  idempotencyKeptMs,
  type IdempotencyRecords,
  type Once,
} from '../flows/idempotency.ts';
import { type OnceStreamed, streamedIdempotency } from '../flows/streamed-idempotency.ts';
import { change } from '../inventory/record-change.ts';
import { durablePart, type StoredPart } from '../model/request-part.ts';
import type { Records } from '../records/records.ts';
import {
  findKeptAnswer,
  insertKeptAnswer,
  removeKeptAnswer,
  saveDurableParts,
  saveKeptAnswer,
  unansweredKeys,
} from '../records/rows/idempotency-keys.ts';
import type { SampleStore } from '../samples/sample-store.ts';
import type { Telemetry } from '../telemetry/events.ts';

export interface Idempotency {
  readonly once: Once;
  readonly onceStreamed: OnceStreamed;
}

interface KeyParts {
  readonly records: Records;
  readonly store: Pick<SampleStore, 'position'>;
  readonly telemetry: Pick<Telemetry, 'backgroundFailed'>;
}

/** Reads from the journal which requests without a kept answer are durable, and what of them. */
export async function composeIdempotency(parts: Parts): Promise<Idempotency> {
  await recoverDurableParts(parts);
  const kept = keptAnswersOf(parts);
  return { once: idempotency(kept, parts.now), onceStreamed: streamedIdempotency(kept, parts.now) };
}

async function recoverDurableParts({
  records,
  store,
  now,
}: Pick<Parts, 'records' | 'store' | 'now'>): Promise<void> {
  const unanswered = await unansweredKeys(records.db, now() - idempotencyKeptMs);
  if (unanswered.length === 0) return;
  const found = new Map(
    unanswered.map(({ id, durable }) => [id, new Map(durable.map((one) => [one.part, one]))]),
  );
  const from = unanswered.reduce(
    (oldest, { journalPosition }) => Math.min(oldest, journalPosition),
    store.position,
  );
  for await (const entries of store.entriesFrom(from)) {
    for (const { trace, receivedAt, samples, metrics } of entries) {
      const name =
        trace?.duplicateKey === undefined
          ? undefined
          : durablePart.fromDuplicateKey(trace.duplicateKey);
      const ofKey = name && found.get(name.id);
      if (name === undefined || ofKey === undefined || ofKey.has(name.part)) continue;
      const correlationId = metrics?.uplinkId ?? samples[0]?.correlationId ?? null;
      const { part, contentHash } = name;
      ofKey.set(part, {
        part,
        contentHash,
        receivedAt,
        correlationId,
        samples: samples.length,
      } satisfies StoredPart);
    }
  }
  const position = store.position;
  await records.db.transaction().execute(async (step) => {
    for (const [id, ofKey] of found)
      await saveDurableParts(step, id, [...ofKey.values()], position);
  });
}

export function keptAnswersOf({ records, store, telemetry }: KeyParts): IdempotencyRecords {
  const { db } = records;
  return {
    find: (id, seenAfter) => findKeptAnswer(db, id, seenAfter),
    reserve: (record) => insertKeptAnswer(db, { ...record, journalPosition: store.position }),
    complete: (id, answer, bodyHash) => saveKeptAnswer(db, id, answer, bodyHash),
    interrupt: (id, durable) => saveDurableParts(db, id, durable),
    release: (id) => removeKeptAnswer(db, id),
    create: (kept, work) =>
      change(records, async (step) => {
        const answer = await work(step);
        await insertKeptAnswer(step.db, { ...kept, answer, journalPosition: store.position });
        return answer;
      }),
    failed: (error) => telemetry.backgroundFailed('saving the answer of an Idempotency-Key', error),
  };
}
