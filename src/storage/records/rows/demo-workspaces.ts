// Demo workspaces in the records store: at most one in each organization.
import { fromJsonText, isOneOf, toJsonText } from '../columns.ts';
import type { JsonObject } from '../../../model/json.ts';
import { simulatedConnectorName, simulatedMark } from '../../../model/workspace.ts';
import type { Records, RecordsDb } from '../records.ts';

/** The demo has fewer devices; a user may add some. */
const devicesMax = 1_000;

/** Tables of what is in a workspace, in an order in which nothing uses what follows. */
const contents = [
  ['rule', 'rules'],
  ['calculation', 'calculations'],
  ['device', 'devices'],
  ['dataFlow', 'dataFlows'],
  ['outputConnector', 'outputConnectors'],
  ['integration', 'integrations'],
  ['deviceConnector', 'deviceConnectors'],
  ['tag', 'tags'],
  ['place', 'places'],
  ['customFieldMeta', 'customFieldMetas'],
  ['dashboard', 'dashboards'],
  ['dashboardGroup', 'dashboardGroups'],
  ['blob', 'blobs'],
] as const;

export type DemoContent = (typeof contents)[number][0];

export async function demoWorkspaceOf(
  db: RecordsDb,
  organizationId: string,
): Promise<string | undefined> {
  const query = db
    .selectFrom('demoWorkspaces')
    .select('workspaceId')
    .where('organizationId', '=', organizationId);
  return (await query.executeTakeFirst())?.workspaceId;
}

/** The workspace of the organization whose devices are simulated although it is not noted as a demo. */
export async function simulatedWorkspaceOf(
  db: RecordsDb,
  organizationId: string,
): Promise<string | undefined> {
  const rows = await db
    .selectFrom('workspaces')
    .select(['id', 'properties'])
    .where('organizationId', '=', organizationId)
    .where('properties', 'like', `%${simulatedMark.simulated}%`)
    .orderBy('created')
    .execute();
  const isMarked = (properties: string): boolean =>
    fromJsonText<JsonObject>(properties)['simulated'] === simulatedMark.simulated;
  return rows.find(({ properties }) => isMarked(properties))?.id;
}

/** A demo workspace with what a simulation of its devices needs. */
interface SimulatedWorkspace {
  readonly workspaceId: string;
  readonly uplinkSecret: string;
  readonly devices: readonly { readonly id: string; readonly deviceId: string }[];
}

/** The demo workspaces that have devices and their connector. */
export async function listSimulatedWorkspaces({
  db,
  sealer,
}: Records): Promise<readonly SimulatedWorkspace[]> {
  const found: SimulatedWorkspace[] = [];
  for (const { workspaceId } of await db.selectFrom('demoWorkspaces').selectAll().execute()) {
    const connector = await db
      .selectFrom('deviceConnectors')
      .select('uplinkSecret')
      .where('workspaceId', '=', workspaceId)
      .where('name', '=', simulatedConnectorName)
      .executeTakeFirst();
    const secret = connector?.uplinkSecret ?? null;
    if (secret === null) continue;
    const devices = await db
      .selectFrom('devices')
      .select(['id', 'deviceId'])
      .where('workspaceId', '=', workspaceId)
      .limit(devicesMax)
      .execute();
    found.push({ workspaceId, uplinkSecret: sealer.open(secret), devices });
  }
  return found;
}

export async function insertDemoWorkspace(
  db: RecordsDb,
  workspace: { readonly workspaceId: string; readonly organizationId: string },
): Promise<void> {
  await db
    .insertInto('demoWorkspaces')
    .values({ ...workspace, deviceTypeIds: toJsonText([]) })
    .execute();
}

/** The device types that the demo created; undefined when the workspace is not a demo. */
export async function demoDeviceTypes(
  db: RecordsDb,
  workspaceId: string,
): Promise<readonly string[] | undefined> {
  const query = db
    .selectFrom('demoWorkspaces')
    .select('deviceTypeIds')
    .where('workspaceId', '=', workspaceId);
  const row = await query.executeTakeFirst();
  return row && fromJsonText<string[]>(row.deviceTypeIds);
}

export async function saveDemoDeviceTypes(
  db: RecordsDb,
  workspaceId: string,
  deviceTypeIds: readonly string[],
): Promise<void> {
  await db
    .updateTable('demoWorkspaces')
    .set({ deviceTypeIds: toJsonText(deviceTypeIds) })
    .where('workspaceId', '=', workspaceId)
    .execute();
}

/** Ids of those of the rules that are inactive, and were so when they were created. */
export async function newInactiveRules(
  db: RecordsDb,
  workspaceId: string,
  names: readonly string[],
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('rules')
    .select('id')
    .where('workspaceId', '=', workspaceId)
    .where(isOneOf('name', names))
    .where('active', '=', 0)
    .where('version', '=', 0)
    .execute();
  return rows.map(({ id }) => id);
}

/** The ids of what is in the workspace, in the order of deletion; at most `max` of each kind. */
export async function contentsInOrder(
  db: RecordsDb,
  workspaceId: string,
  max: number,
): Promise<readonly { readonly kind: DemoContent; readonly ids: readonly string[] }[]> {
  const found = [];
  for (const [kind, table] of contents) {
    const query = db.selectFrom(table as 'tags').select('id');
    const rows = await query.where('workspaceId', '=', workspaceId).limit(max).execute();
    found.push({ kind, ids: rows.map(({ id }) => id) });
  }
  return found;
}
