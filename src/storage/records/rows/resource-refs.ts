// Resource references: organization and workspace of a record, for authorization, without reading the whole record.
import type { Place } from '../../../model/record.ts';
import type { RecordsDb } from '../records.ts';

const workspaceTables = {
  tag: { table: 'tags', what: 'tag' },
  place: { table: 'places', what: 'place' },
  deviceConnector: { table: 'deviceConnectors', what: 'device connector' },
  outputConnector: { table: 'outputConnectors', what: 'output connector' },
  dataFlow: { table: 'dataFlows', what: 'data flow' },
  device: { table: 'devices', what: 'device' },
  customFieldMeta: { table: 'customFieldMetas', what: 'custom field' },
  blob: { table: 'blobs', what: 'blob' },
  dashboard: { table: 'dashboards', what: 'dashboard' },
  dashboardGroup: { table: 'dashboardGroups', what: 'dashboard group' },
  operation: { table: 'operations', what: 'operation' },
  sampleExport: { table: 'sampleExports', what: 'export' },
  delivery: { table: 'deliveries', what: 'delivery' },
  integration: { table: 'integrations', what: 'integration' },
  rule: { table: 'rules', what: 'rule' },
  calculation: { table: 'calculations', what: 'calculation' },
  mute: { table: 'mutes', what: 'mute' },
  onCall: { table: 'onCallOrders', what: 'on-call order' },
  alarm: { table: 'alarms', what: 'alarm' },
  view: { table: 'views', what: 'view' },
  annotation: { table: 'annotations', what: 'annotation' },
  report: { table: 'reports', what: 'report' },
} as const;

const organizationTables = {
  deviceType: { table: 'deviceTypes', what: 'device type' },
  apiKey: { table: 'apiKeys', what: 'API key' },
  oauthClient: { table: 'oauthClients', what: 'OAuth client' },
  customLogic: { table: 'customLogicBlocks', what: 'custom logic block' },
} as const;

export type PlacedKind =
  | keyof typeof workspaceTables
  | keyof typeof organizationTables
  | 'workspace'
  | 'organization';

/** What a record of the kind is called in a 404. */
export function nameOfKind(kind: PlacedKind): string {
  if (kind in workspaceTables) return workspaceTables[kind as keyof typeof workspaceTables].what;
  if (kind in organizationTables)
    return organizationTables[kind as keyof typeof organizationTables].what;
  return kind;
}

/** Undefined for an unknown record. */
export async function findPlace(
  db: RecordsDb,
  kind: PlacedKind,
  id: string,
): Promise<Place | undefined> {
  const what = nameOfKind(kind);
  if (kind === 'organization') {
    const row = await db
      .selectFrom('organizations')
      .select('id')
      .where('id', '=', id)
      .executeTakeFirst();
    return row && { organizationId: id, workspaceId: null, what, id };
  }
  if (kind === 'workspace') {
    const row = await db
      .selectFrom('workspaces')
      .select('organizationId')
      .where('id', '=', id)
      .executeTakeFirst();
    return row && { ...row, workspaceId: id, what, id };
  }
  if (
    kind === 'deviceType' ||
    kind === 'apiKey' ||
    kind === 'oauthClient' ||
    kind === 'customLogic'
  ) {
    const { table } = organizationTables[kind];
    const row = await db
      .selectFrom(table as 'deviceTypes')
      .select('organizationId')
      .where('id', '=', id)
      .executeTakeFirst();
    return row && { ...row, workspaceId: null, what, id };
  }
  const { table } = workspaceTables[kind];
  const columns = ['organizationId', 'workspaceId'] as const;
  const row = await db
    .selectFrom(table as 'outputConnectors')
    .select(columns)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { ...row, what, id };
}
