// Target devices of output connectors in a workspace's document: physical ids, because service ids differ between workspaces.
import { isJsonObject, type Json, objectOrEmpty } from '../../model/json.ts';
import type { Records } from '../../records/records.ts';
import { physicalIdsOf, serviceIdsOf } from '../../records/rows/devices.ts';

type Item = Readonly<Record<string, unknown>>;
type Place = { readonly organizationId: string; readonly workspaceId: string };

/** The devices that an output connector, as records or documents show it, writes to or commands. */
function targetsOf(item: Item): string[] {
  const { customDatabaseProperties: custom, downlinkProperties: downlink } = item;
  const { targetDeviceId } = objectOrEmpty(custom);
  const { targetDeviceIds } = objectOrEmpty(downlink);
  const many = (Array.isArray(targetDeviceIds) && targetDeviceIds) || [];
  return [targetDeviceId, ...many].filter((id) => typeof id === 'string');
}

function withTargets<T extends Item>(item: T, named: ReadonlyMap<string, string>): T {
  const nameOf = (id: Json = null): Json => named.get(String(id)) ?? id;
  const { customDatabaseProperties: custom, downlinkProperties: downlink } = item;
  const changed: Record<string, unknown> = { ...item };
  if (isJsonObject(custom)) {
    const properties = custom;
    changed['customDatabaseProperties'] = {
      ...properties,
      targetDeviceId: nameOf(properties['targetDeviceId']),
    };
  }
  if (isJsonObject(downlink)) {
    const { targetDeviceIds: ids, ...properties } = downlink;
    const targets = Array.isArray(ids) && { targetDeviceIds: ids.map((id) => nameOf(id)) };
    changed['downlinkProperties'] = { ...properties, ...targets };
  }
  return changed as T;
}

/** Output connectors in the form of a document. */
export async function configuredTargets<T extends Item>(
  { db }: Pick<Records, 'db'>,
  items: readonly T[],
): Promise<T[]> {
  const physical = await physicalIdsOf(db, [...new Set(items.flatMap(targetsOf))]);
  return items.map((item) => withTargets(item, physical));
}

/** The output connector with the ids of this workspace, and the devices that the workspace does not have. */
export async function targetsFromConfigured<T extends Item>(
  { db }: Pick<Records, 'db'>,
  { organizationId, workspaceId }: Place,
  item: T,
): Promise<{ readonly item: T; readonly missing: readonly string[] }> {
  const wanted = targetsOf(item);
  if (wanted.length === 0) return { item, missing: [] };
  const known = await serviceIdsOf(db, organizationId, wanted);
  const here = [...known].filter(([, device]) => device.workspaceId === workspaceId);
  const ids = new Map(here.map(([deviceId, { id }]) => [deviceId, id]));
  return { item: withTargets(item, ids), missing: wanted.filter((deviceId) => !ids.has(deviceId)) };
}
