// Output notes: uplinks whose outputs could not be queued are reported to the operator and to the device's owner.
import type { ProcessingLogEntry } from '../model/entry-trace.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { appendProcessingLog } from '../storage/records/rows/payload-notes.ts';
import type { Telemetry } from '../telemetry/events.ts';

/** `notes` contains at least one note. Resolves when they are durable. */
export async function noteUnreadable(
  notes: readonly ProcessingLogEntry[],
  db: RecordsDb,
  telemetry: Telemetry,
): Promise<void> {
  const summary = `${notes.length} uplinks, the first: ${notes[0]?.message}`;
  telemetry.backgroundFailed('queueing outputs', new Error(summary));
  for (const note of notes) telemetry.noted(note);
  await appendProcessingLog(db, notes);
}
