// Outdated deliveries: removed from the log in short steps.
import type { EpochMs } from '../model/instant.ts';
import type { RecordsDb } from '../records/records.ts';
import { dropOldDeliveries } from '../records/rows/deliveries.ts';

const droppedPerStep = 500;

/** Resolves when no outdated delivery is left. `pause` yields to other work between two steps. */
export async function dropOutdatedDeliveries(
  db: RecordsDb,
  now: EpochMs,
  pause: () => Promise<unknown>,
): Promise<void> {
  while ((await dropOldDeliveries(db, now, droppedPerStep)) === droppedPerStep) await pause();
}
