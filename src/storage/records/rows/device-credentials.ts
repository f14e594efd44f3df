// Device credentials in the records store.
import type { CredentialAlgorithm, DeviceCredential } from '../../../model/device-credential.ts';
import type { Device } from '../../../model/device.ts';
import type { Records, RecordsDb } from '../records.ts';
import { deviceFromRow } from './devices.ts';

export async function insertDeviceCredential(
  db: RecordsDb,
  record: DeviceCredential,
): Promise<void> {
  await db.insertInto('deviceCredentials').values(record).execute();
}

/** The credentials of a device, oldest first. */
export async function findDeviceCredentials(
  db: RecordsDb,
  deviceId: string,
): Promise<DeviceCredential[]> {
  const query = db.selectFrom('deviceCredentials').selectAll().where('deviceId', '=', deviceId);
  const rows = await query.orderBy('created').orderBy('id').execute();
  return rows.map((row) => ({ ...row, algorithm: row.algorithm as CredentialAlgorithm }));
}

/**
 * Physical ids are unique within an organization only; one that is used by more devices than this
 * is nobody's.
 */
const devicesOfOneIdMax = 20;

/** Devices of every organization that have this physical id, and credentials. */
export async function findDevicesWithCredentials(
  records: Pick<Records, 'db' | 'sealer'>,
  physicalDeviceId: string,
): Promise<Device[]> {
  const query = records.db
    .selectFrom('devices')
    .selectAll('devices')
    .where('devices.deviceId', '=', physicalDeviceId);
  const owned = query.where((eb) =>
    eb.exists(
      eb
        .selectFrom('deviceCredentials')
        .select('id')
        .whereRef('deviceCredentials.deviceId', '=', 'devices.id'),
    ),
  );
  const rows = await owned.orderBy('devices.id').limit(devicesOfOneIdMax).execute();
  return rows.map((row) => deviceFromRow(row, records.sealer));
}

export async function removeDeviceCredential(db: RecordsDb, id: string): Promise<void> {
  await db.deleteFrom('deviceCredentials').where('id', '=', id).execute();
}
