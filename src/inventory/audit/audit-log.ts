// Audit log: pages, and an export as lines of JSON or CSV (contract 26).
import type { AuditAction, AuditEntry } from '../../model/audit-entry.ts';
import { formatInstant } from '../../model/instant.ts';
import { type Page, type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { parseOptionalBound } from '../../model/timestamp.ts';
import {
  type AuditFilter,
  auditEntriesBefore,
  listAuditEntries,
} from '../../storage/records/rows/audit-log.ts';
import type { Records } from '../../storage/records/records.ts';
import { csvLine, withoutFormula } from '../../structures/csv.ts';
import { resourceTypeOf } from './audit.ts';
import { type ListScope, ownOrganization } from '../list-scope.ts';

export interface AuditQuery extends ListScope {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly actorId?: string | undefined;
  readonly resourceType?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly action?: AuditAction | undefined;
}

const exportBatch = 500;

function view({ id, timestamp, ...entry }: AuditEntry) {
  const { sequence: _, ...shown } = entry as typeof entry & { sequence?: number };
  return { id, timestamp: formatInstant(timestamp), ...shown };
}

/** A workspace may have been deleted: its log is kept. */
function filterOf(principal: Principal, query: AuditQuery): AuditFilter {
  const { from, to, resourceType, ...rest } = query;
  const organizationId = ownOrganization(principal, query.organizationId);
  refuseOutOfReach(principal, query.workspaceIds ?? []);
  return {
    ...rest,
    organizationId,
    from: parseOptionalBound('query from', from),
    to: parseOptionalBound('query to', to),
    resourceType: resourceType && resourceTypeOf(resourceType),
  };
}

/** A credential for single workspaces reads what happened there. Throws 403. */
function refuseOutOfReach({ workspaces }: Principal, asked: readonly string[]): void {
  if (workspaces === 'all') return;
  if (asked.length === 0 || !asked.every((id) => workspaces.has(id)))
    throw problem('permissionDenied');
}

/** Newest first. */
export async function readAuditLog(
  records: Records,
  principal: Principal,
  query: AuditQuery,
  page: PageRequest,
): Promise<Page<ReturnType<typeof view>>> {
  const filter = filterOf(principal, query);
  const { rows, total } = await listAuditEntries(records.db, filter, page);
  return pageOf(rows.map(view), total, page);
}

/**
 * The entries of the filter, newest first, read while they are sent. Throws before the first line.
 */
export function exportAuditLog(
  records: Records,
  principal: Principal,
  query: AuditQuery,
  format: 'csv' | 'ndjson',
): AsyncIterable<string> {
  return exported(records, filterOf(principal, query), format);
}

async function* exported(
  records: Records,
  filter: AuditFilter,
  format: 'csv' | 'ndjson',
): AsyncGenerator<string> {
  if (format === 'csv') yield csvLine(csvColumns);
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const entries = await auditEntriesBefore(records.db, filter, before, exportBatch);
    if (entries.length === 0) return;
    before = entries.at(-1)?.sequence ?? 0;
    yield entries.map(lines[format]).join('');
  }
}

const lines = {
  csv: csvEntry,
  ndjson: (entry: AuditEntry) => `${JSON.stringify(view(entry))}\n`,
} as const;

const csvColumns = [
  'timestamp',
  'actorType',
  'actorId',
  'actorName',
  'action',
  'resourceType',
  'resourceId',
  'resourceName',
  'workspaceId',
  'requestId',
  'ip',
  'changes',
] as const;

function csvEntry(entry: AuditEntry): string {
  const { actor, changes, timestamp, ...rest } = entry;
  const row: Record<(typeof csvColumns)[number], string | null> = {
    ...rest,
    timestamp: formatInstant(timestamp),
    actorType: actor.type,
    actorId: actor.id,
    actorName: actor.name,
    changes: JSON.stringify(changes),
  };
  return csvLine(csvColumns.map((column) => withoutFormula(row[column] ?? '')));
}
