// Composes the duplicate filter: what the newest journal entries say came in already.
import type { Parts } from './platform-parts.ts';
import { mqttLimits } from '../ingest/mqtt/mqtt-limits.ts';
import {
  createDuplicateFilter,
  type DuplicateFilter,
  duplicateLimits,
} from '../ingest/duplicate-filter.ts';
import { durablePart } from '../model/request-part.ts';

/** Reads the newest entries of the journal, so that a repetition of what came before a crash is known for one. */
export async function composeDuplicates({
  store,
  telemetry,
  now,
}: Parts): Promise<DuplicateFilter> {
  const filter = createDuplicateFilter(now);
  telemetry.gauge(
    'duplicate_keys',
    'Uplinks that repetitions are recognized of.',
    () => filter.size,
  );
  const oldest = now() - duplicateLimits.windowMs;
  let last: [key: string, at: number][] = [];
  for await (const entries of store.entriesFrom(
    Math.max(0, store.position - duplicateLimits.recoveredEntriesMax),
  )) {
    for (const { trace, receivedAt } of entries) {
      if (trace?.duplicateKey === undefined || receivedAt <= oldest) continue;
      // Parts of requests have records of their own.
      if (durablePart.fromDuplicateKey(trace.duplicateKey) !== undefined) continue;
      filter.remember(trace.duplicateKey, receivedAt);
      last.push([trace.duplicateKey, receivedAt]);
    }
    // Nobody knows whether the answers to the newest ones got out before the stop.
    const doubtedSince = (last.at(-1)?.[1] ?? 0) - mqttLimits.heardWithinMs;
    last = last.filter(([, at]) => at >= doubtedSince);
  }
  for (const [key] of last) filter.doubt(key);
  return filter;
}
