// Duplicate recovery: fills the duplicate filter from the newest journal entries, so that it works across a restart (contract 18).
import { type DuplicateFilter, duplicateLimits } from '../../transports/duplicate-filter.ts';
import type { EpochMs } from '../../model/instant.ts';
import { durablePart } from '../../model/request-part.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';

/** Call once at the start, before the first uplink. */
export async function recoverDuplicates(parts: {
  readonly filter: Pick<DuplicateFilter, 'remember' | 'doubt'>;
  readonly log: Pick<EntryLog, 'position' | 'positionAt' | 'duplicateKeysFrom'>;
  /** Age up to which a sender perhaps did not receive the answer to its newest uplinks. */
  readonly confirmedAfterMs: number;
  readonly now: EpochMs;
}): Promise<void> {
  const { filter, log, confirmedAfterMs, now } = parts;
  const oldest = now - duplicateLimits.windowMs;
  // What was stored before was received before.
  const from = Math.max(
    await log.positionAt(oldest),
    log.position - duplicateLimits.recoveredEntriesMax,
  );
  let newest: (readonly [key: string, at: EpochMs])[] = [];
  for await (const keys of log.duplicateKeysFrom(from)) {
    for (const { duplicateKey: key, receivedAt } of keys) {
      // Parts of requests have their own records.
      if (receivedAt <= oldest || durablePart.fromDuplicateKey(key) !== undefined) continue;
      filter.remember(key, receivedAt);
      newest.push([key, receivedAt]);
    }
    const doubtedFrom = (newest.at(-1)?.[1] ?? 0) - confirmedAfterMs;
    newest = newest.filter(([, at]) => at >= doubtedFrom);
  }
  for (const [key] of newest) filter.doubt(key);
}
