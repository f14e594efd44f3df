// Every change of records runs through here: one transaction, versions checked, announced once it is durable.
import { formatInstant } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import type { AuditFields, RecordChange } from '../model/record.ts';
import { insertAuditEntries } from '../records/rows/audit-log.ts';
import type { Records } from '../records/records.ts';
import { auditEntriesOf } from './audit/audit.ts';

/** What every update may carry: absent leaves as it is, null clears, a stale `version` is refused. */
export interface RecordUpdate {
  readonly name?: string | undefined;
  readonly description?: string | null | undefined;
  readonly version?: number | null | undefined;
}

/** Records within a transaction; what is announced here is told after the commit. */
export type Step = Records;

/**
 * Runs the work in one transaction, that of the records when they are within one already. A refusal thrown within leaves nothing
 * behind and announces nothing. What a request changes is written to the audit log in the same transaction, so that neither is
 * there without the other.
 */
export async function change<T>(records: Records, work: (step: Step) => Promise<T>): Promise<T> {
  if (records.db.isTransaction) return work(records);
  const changes: RecordChange[] = [];
  const actor = records.actor();
  const result = await records.db.transaction().execute(async (db) => {
    const step: Step = { ...records, db, announce: (told) => void changes.push(told) };
    const made = await work(step);
    if (actor !== undefined) {
      await insertAuditEntries(db, await auditEntriesOf(step, records, changes, actor));
    }
    return made;
  });
  for (const told of changes) records.announce(told);
  return result;
}

/** The audit fields of a new record. */
export function firstVersion(now: number): AuditFields {
  return { created: now, updated: null, version: 0 };
}

/** The audit fields after an update. Throws 409 when a version was sent and it is not the current one (contract 35). */
export function nextVersion(
  current: AuditFields,
  sent: number | null | undefined,
  now: number,
): Pick<AuditFields, 'updated' | 'version'> {
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
    updated: updated === null ? null : formatInstant(updated),
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

/** Throws 409 naming the users of what was to be deleted. */
export function refuseWhenUsed(what: string, users: readonly string[]): void {
  if (users.length > 0) throw problem('inUse', { what, users });
}

/** How many users a refusal names at most. */
export const usersNamedMax = 5;
