// Audit log: pages, an export as lines of JSON or CSV, and the activity of workspaces (contract 26, 37).
import type { Activity, AuditAction, AuditEntry } from '../../model/audit-entry.ts';
import type { RecordKind } from '../../model/ids.ts';
import { formatInstant } from '../../model/instant.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import type { Scope } from '../../model/permission.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { parseOptionalBound } from '../../model/timestamp.ts';
import type { Records } from '../../storage/records/records.ts';
import {
  auditEntriesBefore,
  type AuditFilter,
  listActivities,
  listAuditEntries,
} from '../../storage/records/rows/audit-log.ts';
import { csvLine, withoutFormula } from '../../structures/csv.ts';
import { listReach, type ListScope, ownOrganization } from '../list-scope.ts';
import { resourceTypeOf } from './audit.ts';

interface AuditQuery extends ListScope {
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

// Activity of workspaces: what each request changed, as far as the principal may read such records (contract 37).

/** Reading such records shows their changes; null for kinds that are not in workspaces. */
const scopeOfKind: Readonly<Record<RecordKind, Scope | null>> = {
  device: 'asset',
  deviceConfiguration: 'asset',
  tag: 'asset',
  place: 'asset',
  customFieldMeta: 'asset',
  deviceCredential: 'deviceCredential',
  integration: 'integration',
  deviceConnector: 'dataFlow',
  dataFlow: 'dataFlow',
  outputConnector: 'dataFlow',
  blob: 'blob',
  dashboard: 'dashboard',
  dashboardGroup: 'dashboard.group',
  dashboardShare: 'dashboard',
  annotation: 'dashboard',
  report: 'dashboard',
  alarm: 'rule',
  rule: 'rule',
  calculation: 'rule',
  mute: 'rule',
  onCall: 'rule',
  workspace: 'workspace',
  member: 'workspace.member',
  deviceType: null,
  customLogic: null,
  apiKey: null,
  oauthClient: null,
  organization: null,
  delivery: null,
  operation: null,
  operationAction: null,
  downlink: null,
  refusal: null,
  invitation: null,
  passkey: null,
  session: null,
  user: null,
  view: null,
};

interface ActivityQuery extends ListScope {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly actorId?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Newest first. Changes of records that the principal cannot read are omitted. */
export async function readActivity(
  records: Records,
  principal: Principal,
  query: ActivityQuery,
  page: PageRequest,
) {
  const reach = await listReach(records, principal, query, ['workspace', 'read']);
  const readable = readableTypes(principal, reach.workspaceIds);
  const { actorId, requestId } = query;
  const [from, to] = [
    parseOptionalBound('query from', query.from),
    parseOptionalBound('query to', query.to),
  ];
  const filter = { ...reach, actorId, requestId, from, to, resourceTypes: [...readable] };
  const { rows, total } = await listActivities(records.db, filter, page);
  const shown = rows.map((activity) => activityView(activity, readable));
  return pageOf(shown, total, page);
}

function readableTypes(
  principal: Principal,
  workspaceIds: readonly string[] | undefined,
): ReadonlySet<string> {
  const places = workspaceIds ?? [null];
  const isReadable = (scope: Scope) =>
    places.every((place) => holds(principal, scope, 'read', place));
  const kinds = Object.entries(scopeOfKind).filter(
    ([, scope]) => scope !== null && isReadable(scope),
  );
  return new Set(kinds.map(([kind]) => resourceTypeOf(kind)));
}

function activityView(activity: Activity, readable: ReadonlySet<string>) {
  const { started, timestamp, organizationId: _, changes, records, ...rest } = activity;
  const isReadable = ({ resourceType }: { readonly resourceType: string }) =>
    readable.has(resourceType);
  const shown = changes.filter(isReadable);
  return {
    ...rest,
    started: formatInstant(started),
    timestamp: formatInstant(timestamp),
    total: shown.reduce((sum, { count }) => sum + count, 0),
    changes: shown,
    records: records.filter(isReadable),
  };
}
