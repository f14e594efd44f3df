// Delivery outcomes: written to the log together with notes for the device's owner, then counted.
import { outcomeNotes } from '../deliveries/failure-notes.ts';
import type { TriedDelivery } from '../model/delivery.ts';
import { lazyTransaction, type RecordsDb } from '../records/records.ts';
import { saveDeliveryOutcomes } from '../records/rows/deliveries.ts';
import { appendProcessingLog } from '../records/rows/processing-log.ts';
import type { Telemetry } from '../telemetry/events.ts';

export interface DeliveryOutcomesParts {
  readonly db: RecordsDb;
  readonly telemetry: Pick<Telemetry, 'deliveryTried' | 'noted'>;
  readonly newId: () => string;
}

/**
 * Writes all outcomes or none. After a power cut the deliveries whose outcome is lost are sent
 * again.
 */
export async function saveOutcomes(
  tried: readonly TriedDelivery[],
  { db, telemetry, newId }: DeliveryOutcomesParts,
): Promise<void> {
  const notes = tried.flatMap((delivery) => outcomeNotes(delivery, newId));
  await lazyTransaction(db, async (step) => {
    const outcomes = tried.map(({ outcome }) => outcome);
    await saveDeliveryOutcomes(step, outcomes);
    await appendProcessingLog(step, notes);
  });
  for (const { outcome, tookMs } of tried) telemetry.deliveryTried(outcome.state, tookMs / 1_000);
  for (const note of notes) telemetry.noted(note);
}
