// Deleted devices whose samples still exist, stored in the transaction of the deletion so that a crash leaves no samples.
import type { EpochMs } from '../../../model/instant.ts';
import type { RecordsDb } from '../records.ts';

export interface DeletedDevice {
  readonly deviceId: string;
  readonly deletedAt: EpochMs;
}

/** Within the transaction that removes the device. */
export async function noteDeletedDevice(
  step: RecordsDb,
  deviceId: string,
  deletedAt: EpochMs,
): Promise<void> {
  await step.insertInto('deletedDevices').values({ deviceId, deletedAt }).execute();
}

export async function listDeletedDevices(db: RecordsDb): Promise<readonly DeletedDevice[]> {
  return db.selectFrom('deletedDevices').selectAll().orderBy('deletedAt').execute();
}

/** Call when all samples of the device are deleted. */
export async function completeDeviceDeletion(db: RecordsDb, deviceId: string): Promise<void> {
  await db.deleteFrom('deletedDevices').where('deviceId', '=', deviceId).execute();
}

/** Deletes the status, decoder state, processing log, rule state and deliveries of the device. */
export async function purgeDeviceRecords(db: RecordsDb, deviceId: string): Promise<void> {
  for (const table of [
    'deviceStatus',
    'deviceState',
    'processingLog',
    'ruleDeviceStates',
    'ruleLastSamples',
    'ruleJudgedTimes',
    'deliveries',
  ] as const) {
    await db
      .deleteFrom(table as 'deviceState')
      .where('deviceId', '=', deviceId)
      .execute();
  }
}
