// CRUD of one kind of record: each change checks the version and is announced when durable.
import { newId } from '../model/ids.ts';
import type { AuditFields, RecordChange } from '../model/record.ts';
import type { Records } from '../storage/records/records.ts';
import { findWorkspace } from '../storage/records/rows/workspaces.ts';
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

interface NamedRecord extends AuditFields {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
}

export interface CrudKind<Row extends NamedRecord> {
  readonly kind: Exclude<RecordChange['kind'], 'member' | 'conditionState'>;
  /** The kind in error messages. */
  readonly noun: string;
  readonly find: (step: Pick<Step, 'db' | 'sealer'>, id: string) => Promise<Row | undefined>;
  readonly insert: (step: Step, record: Row) => Promise<void>;
  readonly save: (step: Step, record: Row) => Promise<void>;
  readonly remove: (step: Step, id: string) => Promise<void>;
  /**
   * Runs before each insert and save, with the stored record of an update. Throws for an invalid
   * record.
   */
  readonly check?: (step: Step, record: Row, current: Row | undefined) => Promise<void>;
}

type New = AuditFields & Pick<NamedRecord, 'id'>;

export interface Crud<Row extends NamedRecord> {
  /** Inserts what `build` returns; it gets the id and the audit fields. */
  create(records: Records, build: (step: Step, fields: New) => Promise<Row>): Promise<Row>;
  /** Throws 404. */
  read(records: Pick<Records, 'db' | 'sealer'>, id: string): Promise<Row>;
  /** Sets name, description and what `revise` returns. Throws 404, or 409 for a stale version. */
  update(
    records: Records,
    id: string,
    sent: RecordUpdate,
    revise: (current: Row) => Partial<Row>,
  ): Promise<Row>;
  /** Throws 404, or 409 naming the users that `usersOf` returns. */
  remove(
    records: Records,
    id: string,
    usersOf?: (step: Step) => Promise<readonly string[]>,
  ): Promise<void>;
}

export function createCrud<Row extends NamedRecord>(rows: CrudKind<Row>): Crud<Row> {
  const { kind, noun, check } = rows;
  return { create, read, update, remove };

  function create(
    records: Records,
    build: (step: Step, fields: New) => Promise<Row>,
  ): Promise<Row> {
    return change(records, async (step) => {
      const record = await build(step, { id: newId(kind), ...firstVersion(step.now()) });
      await check?.(step, record, undefined);
      await rows.insert(step, record);
      step.announce({ kind, id: record.id, action: 'created' });
      return record;
    });
  }

  async function read(records: Pick<Records, 'db' | 'sealer'>, id: string): Promise<Row> {
    return found(await rows.find(records, id), noun, id);
  }

  function update(
    records: Records,
    id: string,
    sent: RecordUpdate,
    revise: (current: Row) => Partial<Row>,
  ): Promise<Row> {
    return change(records, async (step) => {
      const current = await read(step, id);
      const record: Row = {
        ...current,
        name: orCurrent(sent.name, current.name),
        description: orCurrent(sent.description, current.description),
        ...revise(current),
        ...nextVersion(current, sent.version, step.now()),
      };
      await check?.(step, record, current);
      await rows.save(step, record);
      step.announce({ kind, id, action: 'updated' });
      return record;
    });
  }

  function remove(
    records: Records,
    id: string,
    usersOf?: (step: Step) => Promise<readonly string[]>,
  ): Promise<void> {
    return change(records, async (step) => {
      await read(step, id);
      if (usersOf !== undefined) refuseWhenUsed(noun, await usersOf(step));
      await rows.remove(step, id);
      step.announce({ kind, id, action: 'deleted' });
    });
  }
}

/** The fields that place a new record in a workspace. Throws 404 for an unknown workspace. */
export async function placeIn(
  step: Step,
  workspaceId: string,
): Promise<{ readonly organizationId: string; readonly workspaceId: string }> {
  const workspace = found(await findWorkspace(step.db, workspaceId), 'workspace', workspaceId);
  return { organizationId: workspace.organizationId, workspaceId };
}
