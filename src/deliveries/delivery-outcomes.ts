// Delivery outcomes: notes for the device's owner, then a record in the log, then the counters.
import type { DeliveryLog } from '../storage/delivery-log/delivery-log.ts';
import { recordAttempt } from './attempts/delivery-records.ts';
import type { TriedDelivery } from './attempts/delivery-worker.ts';
import type { ProcessingLogEntry } from '../model/entry-trace.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { transaction } from '../storage/records/transaction.ts';
import { appendProcessingLog } from '../storage/records/rows/payload-notes.ts';
import type { Telemetry } from '../telemetry/events.ts';

interface DeliveryOutcomesParts {
  readonly db: RecordsDb;
  readonly log: DeliveryLog;
  readonly telemetry: Telemetry;
  /** Called for each attempt that has a record now. */
  readonly recorded: (tried: TriedDelivery) => void;
}

/** Writes all notes or none. After a power cut the attempts they are of may be repeated. */
export async function saveFailureNotes(
  notes: readonly ProcessingLogEntry[],
  { db, telemetry }: Pick<DeliveryOutcomesParts, 'db' | 'telemetry'>,
): Promise<void> {
  await transaction(db, (step) => appendProcessingLog(step.db, notes), 'lazy');
  for (const note of notes) telemetry.noted(note);
}

/** Adds the outcome of an attempt to the log and counts it. */
export function recordOutcome(
  tried: TriedDelivery,
  { log, telemetry, recorded }: Omit<DeliveryOutcomesParts, 'db'>,
): void {
  recordAttempt(tried, log);
  recorded(tried);
  telemetry.deliveryTried(tried.outcome.state, tried.tookMs / 1_000);
}
