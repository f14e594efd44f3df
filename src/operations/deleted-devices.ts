// Deleted devices: removes samples, raw uplinks and status that arrived while a device was deleted.
import type { EpochMs } from '../model/instant.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { deviceRows } from '../storage/records/rows/devices.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { Telemetry } from '../telemetry/events.ts';

/**
 * Uplinks and backfills that were in progress when their device was deleted have ended after this
 * time.
 */
export const lateAfterDeletionMs = 600_000;

export interface DeletedDevicesParts {
  readonly db: RecordsDb;
  readonly store: Pick<Samples, 'mayHold' | 'dropDevice'>;
  readonly telemetry: Telemetry;
  readonly now: () => EpochMs;
  /** Resolves when what was acknowledged so far is in the records. */
  readonly settled: () => Promise<void>;
  readonly dropRawUplinks: (deviceIds: ReadonlySet<string>) => Promise<void>;
  /** Yields to other work between two devices. */
  readonly pause: () => Promise<unknown>;
}

/** Removes also what a crash right after a deletion left. */
export async function purgeDeletedDevices(parts: DeletedDevicesParts): Promise<void> {
  const { db, store, telemetry, now } = parts;
  const due = (await deviceRows.deleted(db)).filter(
    ({ deletedAt }) => deletedAt <= now() - lateAfterDeletionMs,
  );
  if (due.length > 0) await parts.settled();
  await parts.dropRawUplinks(new Set(due.map(({ deviceId }) => deviceId)));
  for (const { deviceId } of due) {
    if (await store.mayHold(deviceId))
      telemetry.samplesDropped('deviceDeleted', await store.dropDevice(deviceId));
    await deviceRows.purge(db, [deviceId]);
    await deviceRows.completeDeletion(db, deviceId);
    await parts.pause();
  }
}

/**
 * Drops the samples of a device that was just deleted. A failure is reported, and maintenance tries
 * again.
 */
export async function dropSamplesOf(
  deviceId: string,
  { store, telemetry }: Pick<DeletedDevicesParts, 'store' | 'telemetry'>,
): Promise<void> {
  try {
    telemetry.samplesDropped('deviceDeleted', await store.dropDevice(deviceId));
  } catch (error) {
    telemetry.backgroundFailed('dropping samples of deleted devices', error);
  }
}
