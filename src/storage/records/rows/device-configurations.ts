// Device configurations in the records store: every version of a device's configuration that was not deleted.
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { PageRequest } from '../../../model/page.ts';
import { fromJsonText, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows } from '../list.ts';

export interface DeviceConfiguration {
  /** Service device id. */
  readonly deviceId: string;
  /** From 1; a number is given once. */
  readonly version: number;
  readonly workspaceId: string;
  readonly configuration: JsonObject;
  readonly created: EpochMs;
}

/**
 * How changes and the audit log name a version, which has no id of its own: `<service device
 * id>/<version>`.
 */
export function configurationId({
  deviceId,
  version,
}: {
  readonly deviceId: string;
  readonly version: number;
}): string {
  return `${deviceId}/${version}`;
}

/** The version of such a name, unless it was deleted. */
export async function findDeviceConfigurationNamed(
  db: RecordsDb,
  name: string,
): Promise<DeviceConfiguration | undefined> {
  const [deviceId = '', version] = name.split('/');
  return findDeviceConfiguration(db, deviceId, Number(version));
}

/** The next version's number, counting deleted ones. */
export async function nextConfigurationVersion(step: RecordsDb, deviceId: string): Promise<number> {
  const { latest } = await step
    .selectFrom('deviceConfigurations')
    .select((eb) => eb.fn.max('version').as('latest'))
    .where('deviceId', '=', deviceId)
    .executeTakeFirstOrThrow();
  return Number(latest ?? 0) + 1;
}

export async function insertDeviceConfiguration(
  db: RecordsDb,
  record: DeviceConfiguration,
): Promise<void> {
  const configuration = toJsonText(record.configuration);
  await db
    .insertInto('deviceConfigurations')
    .values({ ...record, configuration })
    .execute();
}

function kept(db: RecordsDb, deviceId: string) {
  const query = db.selectFrom('deviceConfigurations').selectAll().where('deviceId', '=', deviceId);
  return query.where('configuration', 'is not', null);
}

type Row = Awaited<ReturnType<ReturnType<typeof kept>['executeTakeFirstOrThrow']>>;

function fromRow(row: Row): DeviceConfiguration {
  return { ...row, configuration: fromJsonText<JsonObject>(row.configuration ?? '{}') };
}

/** That version, or the latest. */
export async function findDeviceConfiguration(
  db: RecordsDb,
  deviceId: string,
  version: number | 'latest',
): Promise<DeviceConfiguration | undefined> {
  let query = kept(db, deviceId);
  if (version !== 'latest') query = query.where('version', '=', version);
  const row = await query.orderBy('version', 'desc').limit(1).executeTakeFirst();
  return row && fromRow(row);
}

/** Newest first unless the page asks for another order. */
export async function listDeviceConfigurations(
  db: RecordsDb,
  deviceId: string,
  page: PageRequest,
): Promise<Rows<DeviceConfiguration>> {
  const columns = { id: 'version', name: 'version', version: 'version', created: 'created' };
  const defaultSort = [{ field: 'version', direction: 'desc' }] as const;
  const { rows, total } = await pageOfRows(kept(db, deviceId), page, {
    columns,
    defaultSort,
    idColumn: 'version',
  });
  return { rows: rows.map(fromRow), total };
}

/** The content goes, the number stays taken. */
export async function removeDeviceConfiguration(
  db: RecordsDb,
  deviceId: string,
  version: number,
): Promise<void> {
  await db
    .updateTable('deviceConfigurations')
    .set({ configuration: null })
    .where('deviceId', '=', deviceId)
    .where('version', '=', version)
    .execute();
}
