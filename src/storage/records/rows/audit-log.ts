// Audit log rows and the activities counted from them: written with the change, read newest first.
import { type Selectable, sql, type SqlBool } from 'kysely';
import type { Actor } from '../../../model/principal.ts';
import {
  type Activity,
  type AuditAction,
  type AuditEntry,
  type ChangeCount,
  type FieldChange,
  type NamedChange,
  namedRecordsMax,
} from '../../../model/audit-entry.ts';
import { dayMs, type EpochMs, hourMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import { fromJsonText, isOneOf, toJsonText } from '../columns.ts';
import { engineSql } from '../engine.ts';
import { pageOfRows, type Rows } from '../list.ts';
import { insertRows } from '../many-rows.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

const keptMs = 400 * dayMs;

export async function insertAuditEntries(
  db: RecordsDb,
  entries: readonly AuditEntry[],
): Promise<void> {
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

/** Newest first, regardless of the requested order. */
export async function listAuditEntries(
  db: RecordsDb,
  filter: AuditFilter,
  page: PageRequest,
): Promise<Rows<AuditEntry>> {
  const { rows, total } = await pageOfRows(filtered(db, filter), page, {
    columns: { timestamp: 'sequence' },
    defaultSort: [{ field: 'timestamp', direction: 'desc' }],
  });
  return { rows: rows.map(fromRow), total };
}

/** The next entries of an export, newest first: those before `sequence`. */
export async function auditEntriesBefore(
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

export async function dropOldAuditEntries(db: RecordsDb, now: EpochMs): Promise<void> {
  await db
    .deleteFrom('auditLog')
    .where('timestamp', '<', now - keptMs)
    .execute();
  await dropActivitiesBefore(db, now - keptMs);
}

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
