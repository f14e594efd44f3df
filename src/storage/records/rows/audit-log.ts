// Audit log rows: written with the change, read newest first, kept for 400 days.
import type { Selectable } from 'kysely';
import type { AuditAction, AuditEntry, FieldChange } from '../../../model/audit-entry.ts';
import { dayMs, type EpochMs } from '../../../model/instant.ts';
import type { PageRequest } from '../../../model/page.ts';
import type { Actor } from '../../../model/actor.ts';
import { fromJsonText, isOneOf, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows } from '../list.ts';
import { countActivity, dropActivitiesBefore } from './activities.ts';
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
  await db.insertInto('auditLog').values(rows).execute();
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
