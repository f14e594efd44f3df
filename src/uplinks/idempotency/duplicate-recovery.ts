// Duplicate recovery: fills the duplicate filter from the newest journal entries, so that it works across a restart (contract 18).
import { type DuplicateFilter, duplicateLimits } from '../../transports/duplicate-filter.ts';
import type { EpochMs } from '../../model/instant.ts';
import { durablePart } from '../../model/journal-entry.ts';
import type { EntryLog } from '../../storage/log/entry-log.ts';
import type { CoapCapture } from '../../transports/coap/coap-capture.ts';
import { exchangeLifetimeMs } from '../../transports/coap/coap-server.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { Capture, CaptureReceipt } from '../capture/capture.ts';

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

// CoAP uplinks: after a start, repetitions of earlier requests are recognized by the journal (contract 18).

/**
 * Call at the start: from then on the endpoint stores exchanges itself, and each of them for its
 * lifetime.
 */
export function createCoapUplinks(stages: {
  readonly duplicates: DuplicateFilter;
  /** Resolves when the payload is durable. */
  readonly capture: (input: Capture) => Promise<CaptureReceipt>;
  readonly captureSenml: (input: Capture) => Promise<CaptureReceipt>;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}): (sent: CoapCapture<UplinkRoute>) => Promise<CaptureReceipt> {
  const { duplicates, capture, captureSenml, newId, now } = stages;
  const startedAt = now();
  return async ({ sender: route, request, payload, bodyBytes, isSenml, duplicateKey }) => {
    const { topic, timestamp } = request;
    const sent = { topic, timestamp, payload, bodyBytes, duplicateKey };
    const take = isSenml ? captureSenml : capture;
    const work = () => take({ route, ...sent, idempotencyKey: undefined });
    if (now() - startedAt > exchangeLifetimeMs) return work();
    const once = await duplicates.once(duplicateKey, work, route.device.organizationId);
    if (once.repeated) return { id: newId(), receivedAt: now() };
    return once.outcome;
  };
}
