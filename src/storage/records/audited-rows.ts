// What the audit log sees of a record: where it lives, its name and its fields, secrets as fingerprints alone.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import {
  type DeviceFieldName,
  deviceFieldRows,
  type DeviceFieldType,
} from '../../model/device-fields.ts';
import type { RecordKind } from '../../model/ids.ts';
import { formatInstant } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import { idsPerStatement, padded } from './engine.ts';
import type { RecordsDb, SealedDb } from './records.ts';
import { deviceKeyColumns } from './rows/device-columns.ts';
import { findDeviceConfigurationNamed } from './rows/device-configurations.ts';
import { demandsSecondFactor } from './rows/sign-in.ts';
import type { RecordTables } from './schema.ts';

export interface AuditedRow {
  readonly organizationId: string;
  readonly workspaceId: string | null;
  readonly name: string | null;
  readonly fields: ReadonlyMap<string, Json>;
  /**
   * Fields whose values must not be shown: name to a fingerprint, which tells only whether they
   * changed.
   */
  readonly secrets: ReadonlyMap<string, string>;
}

type Row = Readonly<Record<string, string | number | null>>;

/**
 * The table of each kind of record that can be changed. A kind that is changed and missing here is
 * refused, not passed over.
 */
const tables: Partial<Record<RecordKind, keyof RecordTables>> = {
  organization: 'organizations',
  workspace: 'workspaces',
  apiKey: 'apiKeys',
  oauthClient: 'oauthClients',
  tag: 'tags',
  place: 'places',
  deviceType: 'deviceTypes',
  deviceConnector: 'deviceConnectors',
  outputConnector: 'outputConnectors',
  dataFlow: 'dataFlows',
  device: 'devices',
  customFieldMeta: 'customFieldMetas',
  blob: 'blobs',
  dashboard: 'dashboards',
  dashboardGroup: 'dashboardGroups',
  operation: 'operations',
  integration: 'integrations',
  rule: 'rules',
  calculation: 'calculations',
  mute: 'mutes',
  onCall: 'onCallOrders',
  alarm: 'alarms',
  customLogic: 'customLogicBlocks',
  view: 'views',
  annotation: 'annotations',
  report: 'reports',
};

/** Rows that belong to a record and change with it. */
const parts: Partial<Record<RecordKind, readonly Part[]>> = {
  alarm: [{ table: 'alarmComments', by: 'alarmId', show: ['text'], as: 'comments' }],
  dataFlow: [
    {
      table: 'dataFlowOutputs',
      by: 'dataFlowId',
      show: ['outputConnectorId'],
      as: 'outputConnectors',
    },
  ],
  device: [
    { table: 'deviceTags', by: 'deviceId', show: ['tagId'], as: 'tags' },
    { table: 'deviceCustomFields', by: 'deviceId', show: ['metaId', 'value'], as: 'customFields' },
  ],
};

interface Part {
  readonly table: keyof RecordTables;
  readonly by: string;
  /** Columns; of several each part is told as their list. */
  readonly show: readonly string[];
  readonly as: string;
}

const hashes = new Set(['secretHash', 'uplinkSecretHash', 'passwordHash', 'tokenHash']);
const sealed = new Set(['uplinkSecret', 'loraProperties', 'privateKey']);
/** Kinds whose properties hold secrets. */
const sealedProperties = new Set<RecordKind>(['outputConnector', 'integration']);
/** Key columns repeat a shown field in the form that filters compare. */
const unshown = new Set<string>([
  ...'id searchText created updated version organizationId lastUsed content plan done'.split(' '),
  ...'failed activatedAt activation nextExecution nameKey loraKeys'.split(' '),
  ...'openKey severityRank orderedBy sources commentCount clearAt escalateAt remindAt remindEveryMs escalateAfterMs nextAt memberEmails'.split(
    ' ',
  ),
  ...deviceKeyColumns,
]);
const jsonColumns = new Set<string>([
  ...'settings properties permissions workspaceIds meta schemas sampleData calculatedKeys what weekly order overrides'.split(
    ' ',
  ),
  ...'uplinkScript downlinkScript configuration selectOptions dataSources'.split(' '),
  ...'logicProperties inputs timer logic actions data acknowledgedBy clearedBy'.split(' '),
  ...'position plan planPosition deviceIds outputs by'.split(' '),
  ...deviceFieldsOfKind('object'),
]);

const flags = new Set<string>([
  ...'allWorkspaces passThrough sendConsecutiveAlerts invokeRuleEngine useCustomPayload'.split(' '),
  ...'pushConfigurationAutomatically registered active shared'.split(' '),
  ...deviceFieldsOfKind('flag'),
]);

const times = new Set(['expiration', 'startAt', 'at', 'until']);

function deviceFieldsOfKind(kind: DeviceFieldType['kind']): DeviceFieldName[] {
  return deviceFieldRows.filter(({ type }) => type.kind === kind).map(({ property }) => property);
}

function shownValue(column: string, value: string | number | null): Json {
  if (value === null) return null;
  if (flags.has(column)) return value !== 0;
  if (times.has(column)) return formatInstant(Number(value));
  return jsonColumns.has(column) ? (JSON.parse(String(value)) as Json) : value;
}

/** By id, as seen by `db`; without those that do not exist. */
export async function auditedRows(
  store: SealedDb,
  kind: RecordKind,
  ids: readonly string[],
): Promise<Map<string, AuditedRow>> {
  const rows = new Map<string, AuditedRow>();
  const one = single[kind];
  for (let from = 0; from < ids.length; from += idsPerStatement) {
    const some = ids.slice(from, from + idsPerStatement);
    if (one === undefined) await addRows(rows, store, kind, some);
    else
      for (const id of some) {
        const row = await one(store.db, id);
        if (row !== undefined) rows.set(id, row);
      }
  }
  return rows;
}

/** Kinds whose records are not rows of one table, and which are not changed in great number. */
const single: Partial<
  Record<RecordKind, (db: RecordsDb, id: string) => Promise<AuditedRow | undefined>>
> = {
  member: auditedMember,
  deviceCredential: auditedCredential,
  deviceConfiguration: auditedConfiguration,
};

async function addRows(
  audited: Map<string, AuditedRow>,
  { db, sealer }: SealedDb,
  kind: RecordKind,
  ids: readonly string[],
): Promise<void> {
  const table = tables[kind];
  if (table === undefined)
    throw new Error(`The audit log knows no table of records of kind ${kind}`);
  const named = sql.join(padded(ids));
  const query = sql<Row>`select * from ${sql.table(table)} where ${sql.ref('id')} in (${named})`;
  const { rows } = await query.execute(db);
  if (rows.length === 0) return;
  const partsOf = await Promise.all(
    (parts[kind] ?? []).map(async (part) => [part.as, await partsById(db, part, ids)] as const),
  );
  for (const row of rows) {
    const id = String(row['id']);
    const fields = new Map<string, Json>();
    const secrets = new Map<string, string>();
    for (const [column, value] of Object.entries(row)) {
      if (unshown.has(column)) continue;
      const isSealed =
        sealed.has(column) || (sealedProperties.has(kind) && column === 'properties');
      if (hashes.has(column)) secrets.set(column, String(value));
      else if (isSealed)
        secrets.set(column, value === null ? '' : fingerprint(sealer.open(String(value))));
      else fields.set(column, shownValue(column, value));
    }
    if (kind === 'organization' && (await demandsSecondFactor(db, id)))
      fields.set('secondFactorRequired', true);
    for (const [as, values] of partsOf) fields.set(as, values.get(id) ?? []);
    audited.set(id, { ...placeOf(kind, row), name: textOrNull(row['name']), fields, secrets });
  }
}

function placeOf(
  kind: RecordKind,
  row: Row,
): { readonly organizationId: string; readonly workspaceId: string | null } {
  const organizationId = String(kind === 'organization' ? row['id'] : row['organizationId']);
  return {
    organizationId,
    workspaceId: textOrNull(kind === 'workspace' ? row['id'] : row['workspaceId']),
  };
}

/** In the order of their columns. */
async function partsById(
  db: RecordsDb,
  { table, by, show }: Part,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Json[]>> {
  const columns = sql.join([by, ...show].map((column) => sql.ref(column)));
  const named = sql.join(padded(ids));
  const query = sql<Row>`
    select ${columns} from ${sql.table(table)} where ${sql.ref(by)} in (${named}) order by ${columns}`;
  const found = new Map<string, Json[]>();
  for (const row of (await query.execute(db)).rows) {
    const [value = null, ...others] = show.map((column) => row[column] ?? null);
    const id = String(row[by]);
    const values = found.get(id) ?? [];
    values.push(others.length === 0 ? value : [value, ...others]);
    found.set(id, values);
  }
  return found;
}

async function auditedCredential(db: RecordsDb, id: string): Promise<AuditedRow | undefined> {
  const row = await db
    .selectFrom('deviceCredentials')
    .innerJoin('devices', 'devices.id', 'deviceCredentials.deviceId')
    .select([
      'devices.organizationId',
      'devices.workspaceId',
      'deviceCredentials.name',
      'deviceCredentials.deviceId',
    ])
    .select(['algorithm', 'fingerprint'])
    .where('deviceCredentials.id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { organizationId, workspaceId, name, ...fields } = row;
  return {
    organizationId,
    workspaceId,
    name,
    fields: new Map(Object.entries(fields)),
    secrets: new Map(),
  };
}

async function auditedConfiguration(db: RecordsDb, id: string): Promise<AuditedRow | undefined> {
  const record = await findDeviceConfigurationNamed(db, id);
  if (record === undefined) return undefined;
  const { deviceId, version, configuration } = record;
  const query = db
    .selectFrom('devices')
    .select(['organizationId', 'workspaceId', 'name'])
    .where('id', '=', deviceId);
  const device = await query.executeTakeFirst();
  const fields = new Map<string, Json>(Object.entries({ deviceId, version, configuration }));
  return device && { ...device, fields, secrets: new Map() };
}

async function auditedMember(db: RecordsDb, id: string): Promise<AuditedRow | undefined> {
  const ofOrganization = await db
    .selectFrom('organizationMembers')
    .innerJoin('users', 'users.id', 'organizationMembers.userId')
    .select([
      'organizationMembers.organizationId',
      'organizationMembers.role',
      'acceptedAt',
      'users.email',
      'userId',
    ])
    .where('organizationMembers.id', '=', id)
    .executeTakeFirst();
  const ofWorkspace = await db
    .selectFrom('workspaceMembers')
    .innerJoin('workspaces', 'workspaces.id', 'workspaceMembers.workspaceId')
    .innerJoin('users', 'users.id', 'workspaceMembers.userId')
    .select([
      'workspaces.organizationId',
      'workspaceId',
      'workspaceMembers.role',
      'users.email',
      'userId',
    ])
    .where('workspaceMembers.id', '=', id)
    .executeTakeFirst();
  const row = ofOrganization ?? ofWorkspace;
  if (row === undefined) return undefined;
  const { organizationId, email, role, userId } = row;
  const fields = new Map<string, Json>([
    ['userId', userId],
    ['role', role],
  ]);
  if (ofOrganization !== undefined) fields.set('accepted', ofOrganization.acceptedAt !== null);
  return {
    organizationId,
    workspaceId: ofWorkspace?.workspaceId ?? null,
    name: email,
    fields,
    secrets: new Map(),
  };
}

function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function textOrNull(value: string | number | null | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
