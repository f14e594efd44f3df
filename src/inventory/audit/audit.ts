// Audit entries: each changed record of a transaction, before and after the change (contract 26).
import { createHash, randomUUID } from 'node:crypto';
import type { Actor } from '../../model/actor.ts';
import type { AuditAction, AuditEntry, FieldChange } from '../../model/audit-entry.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import type { RecordChange } from '../../model/record.ts';
import { insertAuditEntries } from '../../storage/records/rows/audit-log.ts';
import { type AuditedRow, auditedRow } from '../../storage/records/audited-rows.ts';
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
  step: Pick<Records, 'db' | 'sealer' | 'now'>,
  records: Pick<Records, 'committed' | 'sealer'>,
  changes: readonly RecordChange[],
  actor: Actor,
): Promise<AuditEntry[]> {
  const now = step.now();
  const entries: AuditEntry[] = [];
  const logged = new Set<string>();
  for (const { kind, id, action } of changes) {
    if (kind === 'conditionState' || unlogged.has(kind) || logged.has(id)) continue;
    logged.add(id);
    const before = await auditedRow({ db: records.committed, sealer: records.sealer }, kind, id);
    const after = await auditedRow(step, kind, id);
    const row = after ?? before;
    if (row === undefined) continue;
    entries.push({
      ...entryOf(actor, now),
      organizationId: row.organizationId,
      workspaceId: row.workspaceId,
      action: actions[action],
      resourceType: resourceTypeOf(kind),
      resourceId: id,
      resourceName: row.name,
      changes: fieldChanges(before, after),
    });
  }
  return entries;
}

/** Null for what no request of the interface did. */
type AuditActor = Pick<Actor, 'type' | 'id' | 'name'> & Pick<AuditEntry, 'requestId' | 'ip'>;

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
  records: Pick<Records, 'db' | 'now'>,
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
