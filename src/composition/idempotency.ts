// Connects Idempotency-Key: the records store keys and answers, the journal proves what was durable before a crash.
import { setTimeout as wait } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import { createOnce, type IdempotencyRecords, type Once } from '../flows/idempotency.ts';
import { createIdempotencyRecords } from '../flows/idempotency-records.ts';
import { recoverDurableParts } from '../flows/idempotency-recovery.ts';
import { type OnceStreamed, createOnceStreamed } from '../flows/streamed-idempotency.ts';

export interface Idempotency {
  readonly once: Once;
  readonly onceStreamed: OnceStreamed;
}

/** With several nodes, requests with one key arrive at each of them. */
async function storedFor(parts: Parts): Promise<IdempotencyRecords> {
  const own = createIdempotencyRecords(parts);
  const { node, records, log, newId } = parts;
  if (node === undefined) return own;
  const { createSharedIdempotency } = await import('../flows/shared-idempotency.ts');
  const clock = { now: () => performance.now(), wait: (ms: number) => wait(ms) };
  return createSharedIdempotency({ records, log, own, runBy: `${node.id}/${newId()}`, ...clock });
}

export async function composeIdempotency(parts: Parts): Promise<Idempotency> {
  const { records, log, now } = parts;
  await recoverDurableParts(records.db, log, now());
  const stored = await storedFor(parts);
  return { once: createOnce(stored, now), onceStreamed: createOnceStreamed(stored, now) };
}
