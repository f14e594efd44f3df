// Audit entries: each changed record of a transaction, before and after the change (contract 26).
import { createHash, randomUUID } from 'node:crypto';
import type { Actor, Author } from '../../model/principal.ts';
import type { AuditAction, AuditEntry, FieldChange } from '../../model/audit-entry.ts';
import type { RecordKind } from '../../model/ids.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import type { RecordChange } from '../../model/record.ts';
import { insertAuditEntries } from '../../storage/records/rows/audit-log.ts';
import { type AuditedRow, auditedRows } from '../../storage/records/audited-rows.ts';
import type { Records } from '../../storage/records/records.ts';

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
  records: Pick<Records, 'db' | 'now'>,
  actor: AuditActor,
  action: AuditedAction,
): Promise<void> {
  await insertAuditEntries(records.db, [{ ...entryOf(actor, records.now()), ...action }]);
}

/** `deviceType` as `DEVICE_TYPE`. */
export function resourceTypeOf(kind: string): string {
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
