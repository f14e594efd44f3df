// Audit log: an entry for each changed record of a transaction, pages, exports, and the activity of workspaces (contract 26, 37).
import { createHash, randomUUID } from 'node:crypto';
import {
  type Actor,
  type Author,
  holds,
  type Principal,
  type Scope,
} from '../../model/principal.ts';
import type {
  Activity,
  AuditAction,
  AuditEntry,
  FieldChange,
  RecordChange,
} from '../../model/record.ts';
import type { RecordKind } from '../../model/ids.ts';
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { parseOptionalBound } from '../../model/timestamp.ts';
import type { Json } from '../../model/json.ts';
import {
  type AuditedRow,
  auditedRows,
  type AuditFilter,
  listActivities,
  auditRows,
} from '../../storage/records/rows/audit-log.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { type Page, pageOf, type PageRequest } from '../../model/page.ts';
import { problem } from '../../model/problem.ts';
import { csvLine, withoutFormula } from '../../structures/csv.ts';
import { listReach, type ListScope, ownOrganization } from '../list-scope.ts';

/** Longer values are logged by length and hash: a script may have 1 MiB. */
const valueLengthMax = 2_000;

const actions = {
  created: 'CREATE',
  updated: 'UPDATE',
  deleted: 'DELETE',
} as const satisfies Record<RecordChange['action'], AuditAction>;

/**
 * Kinds that are not records of an organization; their changes are logged as logins and
 * memberships.
 */
const unlogged = new Set<RecordChange['kind']>(['session', 'user', 'invitation']);

/** `step` sees the change, `records.committed` does not yet. */
export async function auditEntriesOf(
  step: Records,
  records: Records,
  changes: readonly RecordChange[],
  actor: Actor,
): Promise<AuditEntry[]> {
  const now = step.now();
  const committed = { db: records.committed, sealer: records.sealer };
  const entries: AuditEntry[] = [];
  for (const some of readTogether(changes)) {
    const { kind } = some[0];
    const ids = some.map(({ id }) => id);
    const old = some.filter(({ action }) => action !== 'created').map(({ id }) => id);
    const before = await auditedRows(committed, kind, old);
    const after = await auditedRows(step, kind, ids);
    for (const { id, action } of some) {
      const row = after.get(id) ?? before.get(id);
      if (row === undefined) continue;
      entries.push({
        ...entryOf(actor, now),
        organizationId: row.organizationId,
        workspaceId: row.workspaceId,
        action: actions[action],
        resourceType: resourceTypeOf(kind),
        resourceId: id,
        resourceName: row.name,
        changes: fieldChanges(before.get(id), after.get(id)),
      });
    }
  }
  return entries;
}

interface Logged {
  readonly kind: RecordKind;
  readonly id: string;
  readonly action: RecordChange['action'];
}

/** Rows of other kinds can be long: a device type has scripts. */
const devicesReadTogether = 64;

/** The first change of each record, in order: neighbors of one kind, as many as are read together. */
function* readTogether(changes: readonly RecordChange[]): Iterable<readonly [Logged, ...Logged[]]> {
  const seen = new Set<string>();
  let some: [Logged, ...Logged[]] | undefined;
  for (const { kind, id, action } of changes) {
    if (kind === 'conditionState' || unlogged.has(kind) || seen.has(id)) continue;
    seen.add(id);
    const max = kind === 'device' ? devicesReadTogether : 1;
    if (some !== undefined && some[0].kind === kind && some.length < max)
      some.push({ kind, id, action });
    else {
      if (some !== undefined) yield some;
      some = [{ kind, id, action }];
    }
  }
  if (some !== undefined) yield some;
}

/** Null for what no request of the interface did. */
type AuditActor = Author & Pick<AuditEntry, 'requestId' | 'ip'>;

/** The fields that every entry of an actor has. */
function entryOf(
  { type, id, name, requestId, ip }: AuditActor,
  now: EpochMs,
): Pick<AuditEntry, 'id' | 'timestamp' | 'actor' | 'requestId' | 'ip'> {
  return { id: randomUUID(), timestamp: now, actor: { type, id, name }, requestId, ip };
}

/**
 * Logs an action of a user on the own account, such as signing in, which changes no record of an
 * organization.
 */
export async function auditAction(
  records: Records,
  actor: Actor,
  {
    organizationId,
    action,
    user,
    changes = [],
  }: {
    readonly organizationId: string;
    readonly action: AuditAction;
    readonly user: { readonly id: string; readonly name: string };
    readonly changes?: readonly FieldChange[];
  },
): Promise<void> {
  await auditEntry(records, actor, {
    organizationId,
    workspaceId: null,
    resourceType: 'USER',
    resourceId: user.id,
    action,
    resourceName: user.name,
    changes,
  });
}

type AuditedAction = Pick<
  AuditEntry,
  | 'organizationId'
  | 'workspaceId'
  | 'action'
  | 'resourceType'
  | 'resourceId'
  | 'resourceName'
  | 'changes'
>;

/** Logs what is no change of a record. */
export async function auditEntry(
  records: { readonly db: RecordsDb; readonly now: () => number },
  actor: AuditActor,
  action: AuditedAction,
): Promise<void> {
  await auditRows.insert(records.db, [{ ...entryOf(actor, records.now()), ...action }]);
}

/** `deviceType` as `DEVICE_TYPE`. */
function resourceTypeOf(kind: string): string {
  return kind.replace(/[a-z](?=[A-Z])/g, '$&_').toUpperCase();
}

function fieldChanges(
  before: AuditedRow | undefined,
  after: AuditedRow | undefined,
): FieldChange[] {
  const changes: FieldChange[] = [];
  for (const field of new Set([
    ...(before?.fields.keys() ?? []),
    ...(after?.fields.keys() ?? []),
  ])) {
    const [was, is] = [before?.fields.get(field), after?.fields.get(field)];
    if (JSON.stringify(was ?? null) === JSON.stringify(is ?? null)) continue;
    changes.push({
      field,
      ...(!isNothing(was) && { before: shortened(was) }),
      ...(!isNothing(is) && { after: shortened(is) }),
    });
  }
  // The secret of a new record is not logged, because every such record has one.
  if (before === undefined || after === undefined) return changes;
  for (const [field, fingerprint] of after.secrets) {
    if (before.secrets.get(field) !== fingerprint) changes.push({ field, secret: true });
  }
  return changes;
}

function isNothing(value: Json | undefined): value is null | undefined {
  return value === null || value === undefined;
}

function shortened(value: Json): Json {
  const text = JSON.stringify(value);
  if (text.length <= valueLengthMax) return value;
  return { length: text.length, sha256: createHash('sha256').update(text).digest('hex') };
}

// Audit log: pages, an export as lines of JSON or CSV, and the activity of workspaces (contract 26, 37).

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
  const { rows, total } = await auditRows.list(records.db, filter, page);
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
    const entries = await auditRows.before(records.db, filter, before, exportBatch);
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

/** Newest first. Changes of records that the principal cannot read are omitted. */
export async function readActivity(
  records: Records,
  principal: Principal,
  query: ListScope & {
    readonly from?: string | undefined;
    readonly to?: string | undefined;
    readonly actorId?: string | undefined;
    readonly requestId?: string | undefined;
  },
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
