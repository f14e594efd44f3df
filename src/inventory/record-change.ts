// Record changes: one transaction each, with versions checked and an audit entry, announced when durable.
import type { AuditEntry } from '../model/audit-entry.ts';
import { type EpochMs, formatInstant, formatInstantOrNull } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import type { AuditFields, ChangedRecord, RecordChange } from '../model/record.ts';
import { insertAuditEntries } from '../storage/records/rows/audit-log.ts';
import { type Records, transaction } from '../storage/records/records.ts';
import { publishChanges } from '../storage/records/connection-pool.ts';
import { auditEntriesOf } from './audit/audit.ts';

/**
 * Fields of every update: an absent field stays unchanged, null clears it, a stale `version` is a
 * 409.
 */
export interface RecordUpdate {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly version?: number | null | undefined;
}

/** Records within a transaction; changes announced here are forwarded after the commit. */
export type Step = Records;

/**
 * Runs the work in one transaction: a new one, or that of the records when they have one. An error
 * rolls everything back and announces nothing. The audit entries of a request are part of the same
 * transaction.
 */
export async function change<T>(records: Records, work: (step: Step) => Promise<T>): Promise<T> {
  if (records.db.isTransaction) return work(records);
  const changes: RecordChange[] = [];
  const about = new Map<string, ChangedRecord>();
  const actor = records.actor();
  return transaction(records.db, async (open) => {
    const { db } = open;
    // The first task, so that what follows later finds no cache as it was before.
    open.afterCommit(() => withRecords(changes, about).forEach(records.announce));
    const announce = (told: RecordChange) => void changes.push(told);
    const step: Step = { ...records, ...open, announce };
    const made = await work(step);
    if (actor !== undefined) {
      const entries = await auditEntriesOf(step, records, changes, actor);
      await insertAuditEntries(db, entries);
      for (const entry of entries) about.set(entry.resourceId, changedRecordOf(entry));
    }
    await publishChanges(db, withRecords(changes, about));
    return made;
  });
}

/** The changes with what the audit log has of their records. */
function withRecords(
  changes: readonly RecordChange[],
  about: ReadonlyMap<string, ChangedRecord>,
): readonly RecordChange[] {
  return changes.map((each) => {
    const known = about.get(each.id);
    return known === undefined ? each : { ...each, about: known };
  });
}

function changedRecordOf({ actor, ...entry }: AuditEntry): ChangedRecord {
  const moved = entry.changes.find(({ field }) => field === 'workspaceId')?.before;
  return {
    organizationId: entry.organizationId,
    workspaceId: entry.workspaceId,
    leftWorkspaceId: typeof moved === 'string' && moved !== entry.workspaceId ? moved : null,
    name: entry.resourceName,
    by: actor,
  };
}

/** The audit fields of a new record. */
export function firstVersion(now: number): AuditFields {
  return { created: now, updated: null, version: 0 };
}

/**
 * The audit fields after an update. Throws 409 when a version was sent and it is not the current
 * one (contract 35).
 */
export function nextVersion(
  current: AuditFields,
  sent: number | null | undefined,
  now: number,
): { readonly updated: EpochMs | null; readonly version: number } {
  if (sent !== undefined && sent !== null && sent !== current.version) {
    throw problem('staleVersion', { sent, current: current.version });
  }
  return { updated: now, version: current.version + 1 };
}

/** Audit fields as answers carry them. */
export function auditView(record: AuditFields): {
  readonly created: string;
  readonly updated: string | null;
  readonly version: number;
} {
  const { created, updated, version } = record;
  return {
    created: formatInstant(created),
    updated: formatInstantOrNull(updated),
    version,
  };
}

/** The sent value, or the current one when none was sent; null clears. */
export function orCurrent<T>(sent: T | undefined, current: T): T {
  return sent === undefined ? current : sent;
}

/** The record, or 404. */
export function found<T>(record: T | undefined, what: string, id: string): T {
  if (record === undefined) throw problem('notFound', { what, id });
  return record;
}

/** Throws 409 with the records that use the one to be deleted. */
export function refuseWhenUsed(what: string, users: readonly string[]): void {
  if (users.length > 0) throw problem('inUse', { what, users });
}

/** The most users that such an error names. */
export const usersNamedMax = 5;
