// Target devices of output connectors in a workspace's document: physical ids, because service ids differ between workspaces.
import { typesWithProperties } from '../../outputs/connectors/connector-table.ts';
import { namedDevices, renamedDevices } from '../../outputs/connectors/named-devices.ts';
import { isJsonObject } from '../../model/json.ts';
import type { Records } from '../../storage/records/records.ts';
import { physicalIdsOf, serviceIdsOf } from '../../storage/records/rows/devices.ts';

type Item = Readonly<Record<string, unknown>>;
type Place = { readonly organizationId: string; readonly workspaceId: string };

/** The ids of the devices that an output connector of a record or a document names. */
function targetsOf(item: Item): string[] {
  return typesWithProperties.flatMap(({ properties: rules }) => {
    const properties = item[rules.key];
    if (!isJsonObject(properties)) return [];
    return namedDevices(rules, properties).map(({ deviceId }) => deviceId);
  });
}

function withTargets<T extends Item>(item: T, named: ReadonlyMap<string, string>): T {
  const changed: Record<string, unknown> = { ...item };
  for (const { properties: rules } of typesWithProperties) {
    const properties = item[rules.key];
    if (isJsonObject(properties)) changed[rules.key] = renamedDevices(rules, properties, named);
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

/**
 * The output connector with the ids of this workspace, and the devices that the workspace does not
 * have.
 */
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
