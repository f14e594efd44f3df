// Device batches: many devices with their tag ids and custom field values, by one statement for each table.
import type { Device } from '../../../model/device.ts';
import type { Json } from '../../../model/json.ts';
import { fromJsonText } from '../columns.ts';
import type { Records } from '../records.ts';
import { deviceFromRow } from './devices.ts';
import { idsPerStatement, padded } from './padded-ids.ts';

type Store = Pick<Records, 'db' | 'sealer'>;

/** At most this many devices are found by one call. */
export const devicesPerBatch = idsPerStatement;

export interface DeviceWithLabels {
  readonly device: Device;
  readonly tagIds: readonly string[];
  /** Field id to value. */
  readonly values: ReadonlyMap<string, Json>;
}

/** A device that was found. `read` throws when its row cannot be decoded. */
export interface FoundDevice {
  readonly id: string;
  readonly deviceId: string;
  readonly read: () => DeviceWithLabels;
}

/** Devices by service id; without those that do not exist. */
export async function devicesByIds(store: Store, ids: readonly string[]): Promise<FoundDevice[]> {
  const query = store.db.selectFrom('devices').selectAll();
  return withLabels(store, await query.where('id', 'in', padded(ids)).execute());
}

/** Devices of an organization by physical id; without those that do not exist. */
export async function devicesByDeviceIds(
  store: Store,
  organizationId: string,
  deviceIds: readonly string[],
): Promise<FoundDevice[]> {
  const query = store.db.selectFrom('devices').selectAll();
  const rows = query
    .where('organizationId', '=', organizationId)
    .where('deviceId', 'in', padded(deviceIds));
  return withLabels(store, await rows.execute());
}

/** A device that was read by other means, with its labels. */
export async function labeledDevice(store: Store, device: Device): Promise<DeviceWithLabels> {
  const { tagIds, values } = await labelsOf(store, [device.id]);
  return { device, tagIds: tagIds.get(device.id) ?? [], values: values(device.id) };
}

async function withLabels(
  store: Store,
  rows: readonly Parameters<typeof deviceFromRow>[0][],
): Promise<FoundDevice[]> {
  if (rows.length === 0) return [];
  const { tagIds, values } = await labelsOf(
    store,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => ({
    id: row.id,
    deviceId: row.deviceId,
    read: () => ({
      device: deviceFromRow(row, store.sealer),
      tagIds: tagIds.get(row.id) ?? [],
      values: values(row.id),
    }),
  }));
}

async function labelsOf({ db }: Store, ids: readonly string[]) {
  const some = padded(ids);
  const tags = db.selectFrom('deviceTags').select(['deviceId', 'tagId']);
  const fields = db.selectFrom('deviceCustomFields').select(['deviceId', 'metaId', 'value']);
  const tagIds = new Map<string, string[]>();
  for (const { deviceId, tagId } of await tags.where('deviceId', 'in', some).execute())
    addTo(tagIds, deviceId, tagId);
  const strings = new Map<string, (readonly [string, string])[]>();
  const values = await fields.where('deviceId', 'in', some).execute();
  for (const { deviceId, metaId, value } of values) addTo(strings, deviceId, [metaId, value]);
  return {
    tagIds,
    values: (id: string) =>
      new Map((strings.get(id) ?? []).map(([metaId, json]) => [metaId, fromJsonText<Json>(json)])),
  };
}

function addTo<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
