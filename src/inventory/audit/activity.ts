// Activity of workspaces: what each request changed, as far as the principal may read such records (contract 37).
import type { Activity } from '../../model/activity.ts';
import type { RecordKind } from '../../model/ids.ts';
import { formatInstant } from '../../model/instant.ts';
import { type PageRequest, pageOf } from '../../model/page.ts';
import type { Scope } from '../../model/permission.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { parseOptionalBound } from '../../model/timestamp.ts';
import type { Records } from '../../storage/records/records.ts';
import { listActivities } from '../../storage/records/rows/audit-log.ts';
import { type ListScope, listReach } from '../list-scope.ts';
import { resourceTypeOf } from './audit.ts';

/** Reading such records shows their changes; null for kinds that are not in workspaces. */
const scopeOfKind: Readonly<Record<RecordKind, Scope | null>> = {
  device: 'asset',
  deviceConfiguration: 'asset',
  tag: 'asset',
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
  alarm: 'rule',
  rule: 'rule',
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

export interface ActivityQuery extends ListScope {
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
  const shown = rows.map((activity) => view(activity, readable));
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

function view(activity: Activity, readable: ReadonlySet<string>) {
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
