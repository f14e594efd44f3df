// Uplink counters: count the results of uplinks and backfills, and the time until an uplink is durable.
import type { DurableEntry } from '../model/journal-entry.ts';
import { Problem } from '../model/problem.ts';
import type { Telemetry } from '../telemetry/events.ts';
import type { BackfillReceipt } from './bulk/backfill.ts';

type UplinkEvents = Telemetry;
type BackfillEvents = Telemetry;

/** Settles as the work does. */
export async function countUplink(
  events: UplinkEvents,
  work: () => Promise<DurableEntry>,
): Promise<DurableEntry> {
  const startedAt = performance.now();
  try {
    const entry = await work();
    const seconds = (performance.now() - startedAt) / 1_000;
    events.uplinkDurable({ samples: entry.samples.length, duplicates: entry.duplicates, seconds });
    return entry;
  } catch (error) {
    events.uplinkRefused(reasonOf(error));
    throw error;
  }
}

/** Settles as the work does. */
export async function countBackfill(
  events: BackfillEvents,
  work: () => Promise<BackfillReceipt>,
): Promise<BackfillReceipt> {
  try {
    const receipt = await work();
    events.backfilled({ ...receipt, rejected: receipt.rejected.length });
    return receipt;
  } catch (error) {
    events.backfillRefused(reasonOf(error));
    throw error;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Problem) return error.problem;
  return 'internal';
}
