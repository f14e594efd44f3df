// Connects Idempotency-Key: the records store keys and answers, the journal proves what was durable before a crash.
import type { Parts } from './platform-parts.ts';
import { createOnce, type Once } from '../flows/idempotency.ts';
import { createIdempotencyRecords } from '../flows/idempotency-records.ts';
import { recoverDurableParts } from '../flows/idempotency-recovery.ts';
import { type OnceStreamed, createOnceStreamed } from '../flows/streamed-idempotency.ts';

export interface Idempotency {
  readonly once: Once;
  readonly onceStreamed: OnceStreamed;
}

export async function composeIdempotency(parts: Parts): Promise<Idempotency> {
  const { records, log, now } = parts;
  await recoverDurableParts(records.db, log, now());
  const stored = createIdempotencyRecords(parts);
  return { once: createOnce(stored, now), onceStreamed: createOnceStreamed(stored, now) };
}
