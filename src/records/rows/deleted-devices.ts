// Deleted devices whose samples are still to be dropped: noted with the deletion, so that no crash between the two leaves samples behind.
import type { EpochMs } from '../../model/instant.ts';
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

/** Once nothing of the device is left. */
export async function completeDeviceDeletion(db: RecordsDb, deviceId: string): Promise<void> {
  await db.deleteFrom('deletedDevices').where('deviceId', '=', deviceId).execute();
}

/** Removes what uplinks said of the device: status, decoder's state, processing log, what rules remember of it, deliveries. */
export async function purgeDeviceRecords(db: RecordsDb, deviceId: string): Promise<void> {
  for (const table of [
    'deviceStatus',
    'deviceState',
    'processingLog',
    'ruleDeviceStates',
    'ruleLastSamples',
    'deliveries',
  ] as const) {
    await db
      .deleteFrom(table as 'deviceState')
      .where('deviceId', '=', deviceId)
      .execute();
  }
}
