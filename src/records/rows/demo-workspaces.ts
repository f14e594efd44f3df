// Demo workspaces in the records store: at most one in each organization.
import { fromJsonText, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

/** Tables of what is in a workspace, in an order in which nothing uses what follows. */
const contents = [
  ['rule', 'rules'],
  ['device', 'devices'],
  ['dataFlow', 'dataFlows'],
  ['outputConnector', 'outputConnectors'],
  ['integration', 'integrations'],
  ['deviceConnector', 'deviceConnectors'],
  ['tag', 'tags'],
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
