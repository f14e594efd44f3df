// CRUD of one kind of record: each change checks the version and is announced when durable.
import { newId } from '../model/ids.ts';
import type { AuditFields, Place, RecordChange } from '../model/record.ts';
import type { Records, RecordsDb } from '../storage/records/records.ts';
import type { Sealer } from '../storage/records/secret-encryption.ts';
import { workspaceRows } from '../storage/records/rows/workspaces.ts';
import {
  change,
  firstVersion,
  found,
  nextVersion,
  orCurrent,
  type RecordUpdate,
  refuseWhenUsed,
  type Step,
} from './record-change.ts';
import { problem } from '../model/problem.ts';
import { findPlace, nameOfKind, type PlacedKind } from '../storage/records/rows/search.ts';

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

type New = AuditFields & Pick<NamedRecord, 'id'>;

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
