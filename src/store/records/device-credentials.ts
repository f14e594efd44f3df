// Device credentials in the records store.
import type { CredentialAlgorithm, DeviceCredential } from '../../model/device-credential.ts';
import type { RecordsDb } from './database.ts';

export async function insertDeviceCredential(db: RecordsDb, record: DeviceCredential): Promise<void> {
  await db.insertInto('deviceCredentials').values(record).execute();
}

/** The credentials of a device, oldest first. */
export async function findDeviceCredentials(db: RecordsDb, deviceId: string): Promise<DeviceCredential[]> {
  const query = db.selectFrom('deviceCredentials').selectAll().where('deviceId', '=', deviceId);
  const rows = await query.orderBy('created').orderBy('id').execute();
  return rows.map((row) => ({ ...row, algorithm: row.algorithm as CredentialAlgorithm }));
}

export async function removeDeviceCredential(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('deviceCredentials').where('id', '=', id).execute();
}
