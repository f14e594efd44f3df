// Failure notes: notes about the first and the last failure of a delivery, for the device log (contract 27).
import type { ProcessingLogEntry } from '../model/processing-note.ts';
import type { Delivery, DeliveryOutcome } from '../model/delivery.ts';

/** The failures in between are in the delivery log. */
export function outcomeNotes(
  delivery: Delivery,
  outcome: DeliveryOutcome,
  newId: () => string,
): ProcessingLogEntry[] {
  if (outcome.state === 'DELIVERED' || (outcome.state === 'PENDING' && outcome.tries > 1))
    return [];
  const isDead = outcome.state === 'DEAD';
  const tries = outcome.tries === 1 ? '1 attempt' : `${outcome.tries} tries`;
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
        ? `Delivery failed permanently after ${tries}: ${reason}`
        : `Delivery failed and will be retried: ${reason}`,
      details: {
        deliveryId: delivery.id,
        outputConnectorId: delivery.connectorId,
        tries: outcome.tries,
      },
    },
  ];
}
