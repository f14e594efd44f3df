// Idempotency records: keys and answers in the database, each with the journal position at its reservation.
import { change } from '../../inventory/record-change.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  findKeptAnswer,
  insertKeptAnswer,
  removeKeptAnswer,
  saveDurableParts,
  saveKeptAnswer,
} from '../../storage/records/rows/idempotency-keys.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import type { Telemetry } from '../../telemetry/events.ts';
import type { IdempotencyRecords } from './idempotency.ts';

export interface IdempotencyRecordsParts {
  readonly records: Records;
  readonly log: Pick<EntryLog, 'position'>;
  readonly telemetry: Telemetry;
}

export function createIdempotencyRecords(parts: IdempotencyRecordsParts): IdempotencyRecords {
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
