// Audit entries of the changes within a transaction: each record as everybody still sees it, and as it will be (contract 26).
import { createHash, randomUUID } from 'node:crypto';
import type { Actor } from '../../model/actor.ts';
import type { AuditAction, AuditEntry, FieldChange } from '../../model/audit-entry.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json } from '../../model/json.ts';
import type { RecordChange } from '../../model/record.ts';
import { insertAuditEntries } from '../../records/rows/audit-log.ts';
import { type AuditedRow, auditedRow } from '../../records/audited-rows.ts';
import type { Records } from '../../records/records.ts';

/** A longer value is told by its length and hash: a script may have a mebibyte. */
const valueLengthMax = 2_000;

const actions = {
  created: 'CREATE',
  updated: 'UPDATE',
  deleted: 'DELETE',
} as const satisfies Record<RecordChange['action'], AuditAction>;

/** Kinds that are not records of an organization; what happens to them is told as logins and memberships. */
const untold = new Set<RecordChange['kind']>(['session', 'user', 'invitation']);

/** `step` sees the change, `records.committed` does not yet. */
export async function auditEntriesOf(
  step: Pick<Records, 'db' | 'sealer'>,
  records: Pick<Records, 'committed' | 'sealer'>,
  changes: readonly RecordChange[],
  actor: Actor,
  now: EpochMs,
): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  const told = new Set<string>();
  for (const { kind, id, action } of changes) {
    if (untold.has(kind) || told.has(id)) continue;
    told.add(id);
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

/** What every entry of an actor has. */
function entryOf(
  { type, id, name, requestId, ip }: Actor,
  now: EpochMs,
): Pick<AuditEntry, 'id' | 'timestamp' | 'actor' | 'requestId' | 'ip'> {
  return { id: randomUUID(), timestamp: now, actor: { type, id, name }, requestId, ip };
}

/** Writes that a user did something to the own account, such as signing in, which changes no record of an organization. */
export async function auditAction(
  records: Pick<Records, 'db' | 'now'>,
  actor: Actor,
  organizationId: string,
  action: AuditAction,
  user: { readonly id: string; readonly name: string },
  changes: readonly FieldChange[] = [],
): Promise<void> {
  const about = { organizationId, workspaceId: null, resourceType: 'USER', resourceId: user.id };
  const entry = {
    ...entryOf(actor, records.now()),
    ...about,
    action,
    resourceName: user.name,
    changes,
  };
  await insertAuditEntries(records.db, [entry]);
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
      ...(isNothing(was) ? {} : { before: shortened(was) }),
      ...(isNothing(is) ? {} : { after: shortened(is) }),
    });
  }
  // A new secret needs no word: every new record that has one would say so.
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
