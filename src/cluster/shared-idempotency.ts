// Shared idempotency: of requests with one key at several nodes, one does the work; the others wait.
import { problem } from '../model/problem.ts';
import { change, type Inventory } from '../inventory/record-crud.ts';
import type { Records } from '../storage/records/records.ts';
import { keptAnswerRows } from '../storage/records/rows/idempotency-keys.ts';
import {
  type FirstAnswer,
  idempotencyKeptMs,
  type IdempotencyRecord,
  type IdempotencyRecords,
} from '../uplinks/idempotency/idempotency.ts';

export const sharedIdempotency = {
  /** How long a request waits for the answer that another node gives. */
  waitMsMax: 30_000,
  pollMs: 200,
} as const;

/**
 * Keys of several nodes. A request whose key another live node works on waits for its answer, and
 * throws Problem `requestUnderWay` after a time. When that request broke off or its node is gone,
 * this process does the work.
 */
export function createSharedIdempotency(parts: {
  readonly records: Records;
  readonly log: { readonly position: number };
  /** The records of one process. */
  readonly own: IdempotencyRecords;
  /** This process: the id of its node, a slash and what no other process has. */
  readonly runBy: string;
  /** A monotonic clock in milliseconds, and a wait. */
  readonly now: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
}): IdempotencyRecords {
  const { records, log, own, runBy, now, wait } = parts;
  const { db } = records;

  /** Undefined when the key is not known, or is known no longer. */
  async function settled(id: string, seenAfter: number): Promise<IdempotencyRecord | undefined> {
    const until = now() + sharedIdempotency.waitMsMax;
    for (;;) {
      const found = await keptAnswerRows.find(db, id, seenAfter);
      if (found === undefined || found.answer !== null) return found;
      if (await keptAnswerRows.takeOver(db, id, { runBy, journalPosition: log.position }))
        return found;
      if (now() >= until) throw problem('requestUnderWay');
      await wait(sharedIdempotency.pollMs);
    }
  }

  return {
    ...own,
    find: settled,
    async reserve(record) {
      const seenAfter = record.firstSeenAt - idempotencyKeptMs;
      for (;;) {
        const kept = { ...record, journalPosition: log.position };
        if (await keptAnswerRows.reserve(db, kept, { runBy, seenAfter })) return undefined;
        const first = await settled(record.id, seenAfter);
        if (first !== undefined) return first;
      }
    },
    create: (kept, work) =>
      change(records, async (inventory) => {
        // Writers take turns, so that nothing changes between this look and the end.
        const seenAfter = kept.firstSeenAt - idempotencyKeptMs;
        const first = await keptAnswerRows.find(inventory.db, kept.id, seenAfter);
        if (first === undefined || first.answer === null) return answered(inventory, kept, work);
        if (first.bodyHash !== kept.bodyHash) throw problem('idempotencyKeyReused');
        return first.answer;
      }),
  };

  async function answered(
    inventory: Inventory,
    kept: Parameters<IdempotencyRecords['create']>[0],
    work: (step: Inventory) => Promise<FirstAnswer>,
  ): Promise<FirstAnswer> {
    const answer = await work(inventory);
    const journalPosition = log.position;
    await keptAnswerRows.insert(inventory.db, { ...kept, answer, journalPosition });
    return answer;
  }
}
