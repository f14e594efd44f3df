// What the owner of a device is told of deliveries that fail: the first failure, and that one was given up (contract 27).
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import type { TriedDelivery } from '../model/delivery.ts';

/** Further failures in between change nothing for anybody; the delivery log has them. */
export function outcomeNotes(
  { delivery, outcome }: TriedDelivery,
  newId: () => string,
): ProcessingLogEntry[] {
  if (outcome.state === 'DELIVERED' || (outcome.state === 'PENDING' && outcome.tries > 1))
    return [];
  const isDead = outcome.state === 'DEAD';
  const tries = outcome.tries === 1 ? 'one try' : `${outcome.tries} tries`;
  const reason = outcome.reason ?? 'no reason given';
  return [
    {
      id: newId(),
      deviceId: delivery.deviceId,
      timestamp: outcome.updated,
      correlationId: delivery.correlationId,
      level: isDead ? 'ERROR' : 'WARN',
      source: 'OUTPUT',
      message: isDead
        ? `A delivery was given up after ${tries}: ${reason}`
        : `A delivery failed and will be tried again: ${reason}`,
      details: {
        deliveryId: delivery.id,
        outputConnectorId: delivery.connectorId,
        tries: outcome.tries,
      },
    },
  ];
}
