// CRUD of one kind of record: each change checks the version and is announced when durable.
import { newId } from '../model/ids.ts';
import type {
  AuditEntry,
  AuditFields,
  ChangedRecord,
  Place,
  RecordChange,
} from '../model/record.ts';
import { type Records, type RecordsDb, transaction } from '../storage/records/records.ts';
import type { Sealer } from '../storage/records/secret-encryption.ts';
import { workspaceRows } from '../storage/records/rows/workspaces.ts';
import { problem } from '../model/problem.ts';
import { findPlace, nameOfKind, type PlacedKind } from '../storage/records/rows/search.ts';
import { type EpochMs, formatInstant, formatInstantOrNull } from '../model/instant.ts';
import { auditRows } from '../storage/records/rows/audit-log.ts';
import { publishChanges } from '../storage/records/connection-pool.ts';
import { auditEntriesOf } from './audit/audit.ts';

// Record changes: one transaction each, with versions checked and an audit entry, announced when durable.

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
      await auditRows.insert(db, entries);
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

interface NamedRecord extends AuditFields {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
}

/** The rows of a kind of record: `RecordRows` of any table. */
interface CrudRows<Row> {
  find(db: RecordsDb, id: string): Promise<Row | undefined>;
  insert(db: RecordsDb, record: Row): Promise<void>;
  save(db: RecordsDb, record: Row): Promise<void>;
  remove(db: RecordsDb, id: string): Promise<void>;
}

type New = AuditFields & { readonly id: string };

export class Crud<Row extends NamedRecord> {
  readonly #kind: Exclude<RecordChange['kind'], 'member' | 'conditionState'>;
  readonly #noun: string;
  readonly #rows: (sealer: Sealer) => CrudRows<Row>;
  readonly #check: (step: Step, record: Row, current: Row | undefined) => Promise<void>;

  /**
   * `noun` is the kind in error messages. `check` runs before each insert and save, with the stored
   * record of an update, and throws for an invalid record.
   */
  constructor(
    kind: Exclude<RecordChange['kind'], 'member' | 'conditionState'>,
    noun: string,
    rows: (sealer: Sealer) => CrudRows<Row>,
    check: (step: Step, record: Row, current: Row | undefined) => Promise<void> = async () =>
      undefined,
  ) {
    this.#kind = kind;
    this.#noun = noun;
    this.#rows = rows;
    this.#check = check;
  }

  /** Inserts what `build` returns; it gets the id and the audit fields. */
  create(records: Records, build: (step: Step, fields: New) => Promise<Row>): Promise<Row> {
    const kind = this.#kind;
    return change(records, async (step) => {
      const record = await build(step, { id: newId(kind), ...firstVersion(step.now()) });
      await this.#check(step, record, undefined);
      await this.#rows(step.sealer).insert(step.db, record);
      step.announce({ kind, id: record.id, action: 'created' });
      return record;
    });
  }

  /** Throws 404. */
  async read({ db, sealer }: Records, id: string): Promise<Row> {
    return found(await this.#rows(sealer).find(db, id), this.#noun, id);
  }

  /** Sets name, description and what `revise` returns. Throws 404, or 409 for a stale version. */
  update(
    records: Records,
    id: string,
    sent: RecordUpdate,
    revise: (current: Row) => Partial<Row>,
  ): Promise<Row> {
    return change(records, async (step) => {
      const current = await this.read(step, id);
      const record: Row = {
        ...current,
        name: orCurrent(sent.name, current.name),
        description: orCurrent(sent.description, current.description),
        ...revise(current),
        ...nextVersion(current, sent.version, step.now()),
      };
      await this.#check(step, record, current);
      await this.#rows(step.sealer).save(step.db, record);
      step.announce({ kind: this.#kind, id, action: 'updated' });
      return record;
    });
  }

  /** Throws 404, or 409 naming the users that `usersOf` returns. */
  remove(
    records: Records,
    id: string,
    usersOf?: (step: Step) => Promise<readonly string[]>,
  ): Promise<void> {
    return change(records, async (step) => {
      await this.read(step, id);
      if (usersOf !== undefined) refuseWhenUsed(this.#noun, await usersOf(step));
      await this.#rows(step.sealer).remove(step.db, id);
      step.announce({ kind: this.#kind, id, action: 'deleted' });
    });
  }
}

/** The fields that place a new record in a workspace. Throws 404 for an unknown workspace. */
export async function placeIn(
  step: Step,
  workspaceId: string,
): Promise<{ readonly organizationId: string; readonly workspaceId: string }> {
  const workspace = found(await workspaceRows.find(step.db, workspaceId), 'workspace', workspaceId);
  return { organizationId: workspace.organizationId, workspaceId };
}

// Resource lookup: organization and workspace of a record, which the HTTP layer needs to authorize a request.

/** The records that every function of the inventory needs. The HTTP layer only passes them on. */
export type Inventory = Records;

/** Throws 404 for an unknown record. */
export async function placeOf(records: Records, kind: PlacedKind, id: string): Promise<Place> {
  const place = await findPlace(records.db, kind, id);
  if (place === undefined) throw problem('notFound', { what: nameOfKind(kind), id });
  return place;
}

/** The place of a new record of the workspace. Throws 404 for an unknown workspace. */
export function placeInWorkspace(records: Records, workspaceId: string): Promise<Place> {
  return placeOf(records, 'workspace', workspaceId);
}
