// CoAP uplinks: after a start, repetitions of earlier requests are recognized by the journal (contract 18).
import type { CoapCapture } from '../../transports/coap/coap-capture.ts';
import { exchangeLifetimeMs } from '../../transports/coap/coap-exchanges.ts';
import type { DuplicateFilter } from '../../transports/duplicate-filter.ts';
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Capture, CaptureReceipt } from './capture.ts';

/**
 * Call at the start: from then on the endpoint stores exchanges itself, and each of them for its
 * lifetime.
 */
export function createCoapUplinks(stages: {
  readonly duplicates: Pick<DuplicateFilter, 'once'>;
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
