// Audit log rows, what they see of a record, and the activities counted from them: written with the change, read newest first.
import { createHash } from 'node:crypto';
import { type Selectable, sql, type SqlBool } from 'kysely';
import type { Actor } from '../../../model/principal.ts';
import type {
  Activity,
  AuditAction,
  AuditEntry,
  ChangeCount,
  FieldChange,
  NamedChange,
} from '../../../model/record.ts';
import { dayMs, type EpochMs, formatInstant, hourMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import { fromJsonText, isOneOf, toJsonText } from '../columns.ts';
import { engineSql, idsPerStatement, padded } from '../engine.ts';
import { pageOfRows, type Rows } from '../list.ts';
import { insertRows } from './record-rows.ts';
import type { RecordsDb, SealedDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import {
  type DeviceFieldName,
  deviceFieldRows,
  type DeviceFieldType,
} from '../../../model/device.ts';
import type { RecordKind } from '../../../model/ids.ts';
import type { Json } from '../../../model/json.ts';
import { deviceKeyColumns } from './devices.ts';
import { deviceConfigurationRows } from './downlinks.ts';
import { secondFactorDemandRows } from './sign-in.ts';

/** Records that an activity names; the others are only counted. */
const namedRecordsMax = 10;

const keptMs = 400 * dayMs;

export interface AuditFilter {
  readonly organizationId: string;
  readonly workspaceIds?: readonly string[] | undefined;
  /** From this instant on. */
  readonly from?: EpochMs | undefined;
  /** Before this instant. */
  readonly to?: EpochMs | undefined;
  readonly actorId?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly action?: AuditAction | undefined;
}

function fromRow(
  row: Selectable<RecordTables['auditLog']>,
): AuditEntry & { readonly sequence: number } {
  const { actorType, actorId, actorName, changes, action, ...entry } = row;
  return {
    ...entry,
    actor: { type: actorType as Actor['type'], id: actorId, name: actorName },
    action: action as AuditAction,
    changes: fromJsonText<FieldChange[]>(changes),
  };
}

function filtered(db: RecordsDb, filter: AuditFilter) {
  let query = db
    .selectFrom('auditLog')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (filter.workspaceIds?.length) query = query.where(isOneOf('workspaceId', filter.workspaceIds));
  if (filter.from !== undefined) query = query.where('timestamp', '>=', filter.from);
  if (filter.to !== undefined) query = query.where('timestamp', '<', filter.to);
  for (const name of ['actorId', 'resourceType', 'resourceId', 'action'] as const) {
    const value = filter[name];
    if (value !== undefined) query = query.where(name, '=', value);
  }
  return query;
}

class AuditRows {
  async insert(db: RecordsDb, entries: readonly AuditEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const rows = entries.map(({ actor, changes, ...entry }) => ({
      ...entry,
      actorType: actor.type,
      actorId: actor.id,
      actorName: actor.name,
      changes: toJsonText(changes),
    }));
    await insertRows(db, 'auditLog', rows);
    await countActivity(db, entries);
  }

  /** Newest first, regardless of the requested order. */
  async list(db: RecordsDb, filter: AuditFilter, page: PageRequest): Promise<Rows<AuditEntry>> {
    const { rows, total } = await pageOfRows(filtered(db, filter), page, {
      columns: { timestamp: 'sequence' },
      defaultSort: [{ field: 'timestamp', direction: 'desc' }],
    });
    return { rows: rows.map(fromRow), total };
  }

  /** The next entries of an export, newest first: those before `sequence`. */
  async before(
    db: RecordsDb,
    filter: AuditFilter,
    sequence: number,
    limit: number,
  ): Promise<(AuditEntry & { readonly sequence: number })[]> {
    const query = filtered(db, filter)
      .where('sequence', '<', sequence)
      .orderBy('sequence', 'desc')
      .limit(limit);
    return (await query.execute()).map(fromRow);
  }

  async dropOld(db: RecordsDb, now: EpochMs): Promise<void> {
    await db
      .deleteFrom('auditLog')
      .where('timestamp', '<', now - keptMs)
      .execute();
    await dropActivitiesBefore(db, now - keptMs);
  }
}

export const auditRows = new AuditRows();

// Activities in the records store: counted as audit entries are written, so that no read groups them.

/** Callers can send their own request ids: later changes with the same one are another activity. */
const joinedMs = hourMs;
/** Views are personal, also their names. What an operation changes says more than its record. */
const unshown = new Set(['VIEW', 'OPERATION']);

/** Adds what the entries of a transaction changed to the activity of their request. */
async function countActivity(db: RecordsDb, entries: readonly AuditEntry[]): Promise<void> {
  const deleted = new Set(
    entries
      .filter(({ action, resourceType }) => action === 'DELETE' && resourceType === 'WORKSPACE')
      .map(({ resourceId }) => resourceId),
  );
  const counted = entries.filter(
    ({ workspaceId, resourceType }) =>
      workspaceId !== null && !deleted.has(workspaceId) && !unshown.has(resourceType),
  );
  const groups = Map.groupBy(counted, (entry) =>
    JSON.stringify([entry.workspaceId, entry.actor.id, entry.requestId ?? entry.id]),
  );
  for (const group of groups.values()) await addToActivity(db, group);
}

async function addToActivity(db: RecordsDb, entries: readonly AuditEntry[]): Promise<void> {
  const [first] = entries;
  if (first === undefined) return;
  const known = await activityOf(db, first);
  const changes = new Map<string, ChangeCount>();
  const added = entries.map(({ action, resourceType }) => ({ action, resourceType, count: 1 }));
  for (const { action, resourceType, count } of [...(known?.changes ?? []), ...added]) {
    const key = `${action} ${resourceType}`;
    changes.set(key, { action, resourceType, count: count + (changes.get(key)?.count ?? 0) });
  }
  const named = entries.slice(0, namedRecordsMax).map(nameOf);
  const row = {
    resourceTypes: `|${[...new Set([...changes.values()].map((one) => one.resourceType))].join('|')}|`,
    changes: toJsonText([...changes.values()]),
    records: toJsonText([...(known?.records ?? []), ...named].slice(0, namedRecordsMax)),
    timestamp: first.timestamp,
  };
  if (known !== undefined) {
    await db.updateTable('activities').set(row).where('id', '=', known.id).execute();
    return;
  }
  const { id, organizationId, workspaceId, requestId, actor, timestamp } = first;
  await db
    .insertInto('activities')
    .values({
      id,
      organizationId,
      requestId,
      workspaceId: workspaceId ?? '',
      started: timestamp,
      actorType: actor.type,
      actorId: actor.id,
      actorName: actor.name,
      ...row,
    })
    .execute();
}

function nameOf({ action, resourceType, resourceId, resourceName }: AuditEntry): NamedChange {
  return { action, resourceType, resourceId, resourceName };
}

/** The present activity of the request of the entry. */
async function activityOf(
  db: RecordsDb,
  { requestId, workspaceId, actor, timestamp }: AuditEntry,
): Promise<Activity | undefined> {
  if (requestId === null || workspaceId === null) return undefined;
  const row = await db
    .selectFrom('activities')
    .selectAll()
    .where('requestId', '=', requestId)
    .where('workspaceId', '=', workspaceId)
    .where('actorId', '=', actor.id)
    .where('timestamp', '>', timestamp - joinedMs)
    .orderBy('timestamp', 'desc')
    .executeTakeFirst();
  return row && activityFromRow(row);
}

function activityFromRow(row: Selectable<RecordTables['activities']>): Activity {
  const { actorType, actorId, actorName, resourceTypes: _, changes, records, ...rest } = row;
  return {
    ...rest,
    actor: { type: actorType as Actor['type'], id: actorId, name: actorName },
    changes: fromJsonText<ChangeCount[]>(changes),
    records: fromJsonText<NamedChange[]>(records),
  };
}

/** Newest first, regardless of the requested order. */
export async function listActivities(
  db: RecordsDb,
  filter: {
    readonly organizationId: string;
    /** Absent: every workspace of the organization. */
    readonly workspaceIds?: readonly string[] | undefined;
    readonly actorId?: string | undefined;
    readonly requestId?: string | undefined;
    /** From this instant on. */
    readonly from?: EpochMs | undefined;
    /** Before this instant. */
    readonly to?: EpochMs | undefined;
    /** Those with a change of one of these types. */
    readonly resourceTypes: readonly string[];
  },
  page: PageRequest,
): Promise<Rows<Activity>> {
  const { organizationId, workspaceIds, actorId, requestId, from, to, resourceTypes } = filter;
  const { placeIn } = engineSql(db);
  const changesOne = resourceTypes.map(
    (type) => sql<SqlBool>`${placeIn(sql.ref('resourceTypes'), `|${type}|`)} > 0`,
  );
  let query = db
    .selectFrom('activities')
    .selectAll()
    .where('organizationId', '=', organizationId)
    .where(sql<SqlBool>`(${sql.join([sql`1 = 0`, ...changesOne], sql` or `)})`);
  if (workspaceIds !== undefined) query = query.where(isOneOf('workspaceId', workspaceIds));
  if (actorId !== undefined) query = query.where('actorId', '=', actorId);
  if (requestId !== undefined) query = query.where('requestId', '=', requestId);
  if (from !== undefined) query = query.where('timestamp', '>=', from);
  if (to !== undefined) query = query.where('timestamp', '<', to);
  const { rows, total } = await pageOfRows(query, page, {
    columns: { timestamp: 'timestamp' },
    defaultSort: [{ field: 'timestamp', direction: 'desc' }],
  });
  return { rows: rows.map(activityFromRow), total };
}

async function dropActivitiesBefore(db: RecordsDb, before: EpochMs): Promise<void> {
  await db.deleteFrom('activities').where('timestamp', '<', before).execute();
}

// What the audit log sees of a record: where it lives, its name and its fields, secrets as fingerprints alone.

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
const unshownColumns = new Set<string>([
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
      if (unshownColumns.has(column)) continue;
      const isSealed =
        sealed.has(column) || (sealedProperties.has(kind) && column === 'properties');
      if (hashes.has(column)) secrets.set(column, String(value));
      else if (isSealed)
        secrets.set(column, value === null ? '' : fingerprint(sealer.open(String(value))));
      else fields.set(column, shownValue(column, value));
    }
    if (kind === 'organization' && (await secondFactorDemandRows.has(db, id)))
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
  const record = await deviceConfigurationRows.findNamed(db, id);
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
