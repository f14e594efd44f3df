// Operations and sample exports in the records store: progress is committed together with what it tells of.
import { type Insertable, type Selectable, sql } from 'kysely';
import type { JsonObject } from '../../../model/json.ts';
import type {
  ActionData,
  ActionState,
  ActionType,
  Operation,
  OperationAction,
  OperationPlan,
  OperationType,
  SampleExport,
  SampleExportPlan,
  SampleExportState,
} from '../../../model/operation.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  fromJsonText,
  fromJsonTextOrNull,
  isOneOf,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import { pageOfRows, type WorkspaceFilter } from '../list.ts';
import { insertRows, RecordRows, upTo } from './record-rows.ts';
import type { RecordsDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';

function fromRow(row: Selectable<RecordTables['operations']>): Operation {
  return { ...row, type: row.type as OperationType, plan: fromJsonText<OperationPlan>(row.plan) };
}

function toRow(record: Operation): Insertable<RecordTables['operations']> {
  return { ...record, plan: toJsonText(record.plan) };
}

/** Lists have the newest first unless the page asks for another order. */
class OperationRows extends RecordRows<'operations', Operation> {
  /** Within a transaction: an operation without its actions must never be seen. */
  async insertWithActions(
    step: RecordsDb,
    record: Operation,
    actions: readonly OperationAction[],
  ): Promise<void> {
    await this.insert(step, record);
    let rows: Insertable<RecordTables['operationActions']>[] = [];
    let chars = 0;
    for (const action of actions) {
      const row = actionRow(record.id, action);
      rows.push(row);
      chars += row.input?.length ?? 0;
      if (rows.length < rowsPerStatement && chars < inputCharsMax) continue;
      await insertRows(step, 'operationActions', rows);
      rows = [];
      chars = 0;
    }
    await insertRows(step, 'operationActions', rows);
  }

  /** Ids of the operations of the kind that are not completed, oldest first. */
  async unfinished(db: RecordsDb, kind: keyof typeof kinds | 'others'): Promise<string[]> {
    const query = db
      .selectFrom('operations')
      .select('id')
      .where('completed', 'is', null)
      .where('type', kind === 'others' ? 'not in' : 'in', [
        ...(kind === 'others' ? Object.values(kinds).flat() : kinds[kind]),
      ]);
    return (await query.orderBy('started').orderBy('id').execute()).map((row) => row.id);
  }

  /** The actions from a place on, in order, at most `max`, and fewer when their inputs are long. */
  async actionsFrom(
    db: RecordsDb,
    operationId: string,
    place: number,
    max: number,
  ): Promise<OperationAction[]> {
    const query = db
      .selectFrom('operationActions')
      .selectAll()
      .where('operationId', '=', operationId);
    const rows = await query.where('place', '>=', place).orderBy('place').limit(max).execute();
    return upTo(inputCharsMax, rows, ({ input }) => input?.length ?? 0).map(actionFromRow);
  }

  /** What became of the items from a place on and before another, in order. */
  async endedActions(
    db: RecordsDb,
    operationId: string,
    states: readonly ActionState[],
    places: { readonly from: number; readonly before: number },
  ): Promise<OperationAction[]> {
    const query = db
      .selectFrom('operationActions')
      .selectAll()
      .where('operationId', '=', operationId);
    const asked = query.where('place', '>=', places.from).where('place', '<', places.before);
    return (await asked.where(isOneOf('state', states)).orderBy('place').execute()).map(
      actionFromRow,
    );
  }

  /** Actions in one of the states before a place, in order: `max` of them behind the first `from`. */
  async actionsInState(
    db: RecordsDb,
    operationId: string,
    asked: {
      readonly states: readonly ActionState[];
      readonly before: number;
      readonly from: number;
      readonly max: number;
    },
  ): Promise<OperationAction[]> {
    const query = db
      .selectFrom('operationActions')
      .selectAll()
      .where('operationId', '=', operationId)
      .where('place', '<', asked.before)
      .where(isOneOf('state', asked.states));
    const page = query.orderBy('place').limit(asked.max).offset(asked.from);
    return (await page.execute()).map(actionFromRow);
  }

  /** Input that is done is no longer needed. */
  async saveActions(
    step: RecordsDb,
    operationId: string,
    actions: readonly OperationAction[],
  ): Promise<void> {
    const rows = actions.map((action) => actionRow(operationId, { ...action, input: null }));
    const set = {
      state: 'state',
      data: 'data',
      started: 'started',
      completed: 'completed',
      input: 'input',
    } as const;
    await insertRows(step, 'operationActions', rows, { key: ['id'], set });
  }

  /** What is completed, maybe because it was canceled, stays as it is. */
  async saveProgress(
    step: RecordsDb,
    { id, total, done, failed, completed }: Operation,
  ): Promise<void> {
    await step
      .updateTable('operations')
      .set({ total, done, failed, completed })
      .where('id', '=', id)
      .where('completed', 'is', null)
      .execute();
  }

  // Unsettled actions: what ended, and is still done again should a node be lost. They keep an input.
  async noteUnsettled(step: RecordsDb, actionId: string, input: JsonObject): Promise<void> {
    const set = { input: toJsonText(input) };
    await step.updateTable('operationActions').set(set).where('id', '=', actionId).execute();
  }

  async noteSettled(step: RecordsDb, actionIds: readonly string[]): Promise<void> {
    const update = step.updateTable('operationActions').set({ input: null });
    await update.where(isOneOf('id', actionIds)).execute();
  }

  /** In order, of an operation whose items have all ended. */
  async unsettledActions(
    db: RecordsDb,
    operationId: string,
    max: number,
  ): Promise<OperationAction[]> {
    const query = db
      .selectFrom('operationActions')
      .selectAll()
      .where('operationId', '=', operationId)
      .where('input', 'is not', null);
    return (await query.orderBy('place').limit(max).execute()).map(actionFromRow);
  }

  /** Of an operation that was canceled while its items ended. */
  async saveEndedLate(step: RecordsDb, { id, done, failed }: Operation): Promise<void> {
    await step.updateTable('operations').set({ done, failed }).where('id', '=', id).execute();
  }
}

export const operationRows = new OperationRows('operations', toRow, fromRow, {
  columns: { started: 'started', completed: 'completed', type: 'type' },
  defaultSort: [{ field: 'started', direction: 'desc' }],
});

function actionFromRow(row: Selectable<RecordTables['operationActions']>): OperationAction {
  const { operationId: _, ...action } = row;
  return {
    ...action,
    type: row.type as ActionType,
    state: row.state as OperationAction['state'],
    input: fromJsonTextOrNull<JsonObject>(row.input),
    data: fromJsonText<ActionData>(row.data),
  };
}

/** Rows that are made in a row; then comes a statement, which waits for its turn. */
const rowsPerStatement = 256;
/** Characters of the inputs of such rows, and of a batch, unless the first one alone has more. */
const inputCharsMax = 256 * 1024;

function actionRow(
  operationId: string,
  action: OperationAction,
): Insertable<RecordTables['operationActions']> {
  return {
    ...action,
    operationId,
    input: toJsonTextOrNull(action.input),
    data: toJsonText(action.data),
  };
}

/** Each kind has a runner of its own. */
const kinds = {
  exports: ['DATA_EXPORT'],
  sampleChanges: ['DATA_DELETE', 'DATA_RECALCULATE'],
} as const satisfies Record<string, readonly OperationType[]>;

// Sample exports in the records store, and the devices whose samples an export reads.

function exportFromRow(row: Selectable<RecordTables['sampleExports']>): SampleExport {
  return {
    ...row,
    state: row.state as SampleExportState,
    plan: fromJsonText<SampleExportPlan>(row.plan),
  };
}

function exportToRow(record: SampleExport): Insertable<RecordTables['sampleExports']> {
  return { ...record, plan: toJsonText(record.plan) };
}

class SampleExportRows extends RecordRows<'sampleExports', SampleExport> {
  /** Newest first. */
  override async list(
    db: RecordsDb,
    { organizationId, workspaceIds }: WorkspaceFilter,
    page: PageRequest,
  ) {
    let query = db
      .selectFrom('sampleExports')
      .innerJoin('operations', 'operations.id', 'sampleExports.id')
      .selectAll('sampleExports')
      .where('sampleExports.organizationId', '=', organizationId);
    if (workspaceIds !== undefined)
      query = query.where(isOneOf('sampleExports.workspaceId', workspaceIds));
    const { rows, total } = await pageOfRows(query, page, {
      columns: { started: 'operations.started' },
      defaultSort: [{ field: 'started', direction: 'desc' }],
      table: 'sampleExports',
    });
    return { rows: await this.read(db, rows), total };
  }

  async count(db: RecordsDb, organizationId: string): Promise<number> {
    const query = db
      .selectFrom('sampleExports')
      .select((eb) => eb.fn.countAll<number>().as('count'));
    const row = await query.where('organizationId', '=', organizationId).executeTakeFirstOrThrow();
    return Number(row.count);
  }

  /** Files on the disk of the node, those that end first in front. */
  async filesOf(
    db: RecordsDb,
    node: string,
  ): Promise<
    readonly { readonly id: string; readonly organizationId: string; readonly bytes: number }[]
  > {
    const query = db.selectFrom('sampleExports').select(['id', 'organizationId', 'bytes']);
    const rows = await query
      .where('node', '=', node)
      .where('bytes', '>', 0)
      .orderBy(sql`coalesce("expires", ${Number.MAX_SAFE_INTEGER})`)
      .orderBy('id')
      .execute();
    return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }));
  }

  /** Ids of those that expired. */
  async expired(db: RecordsDb, now: number): Promise<string[]> {
    const query = db.selectFrom('sampleExports').select('id').where('expires', '<=', now);
    return (await query.execute()).map(({ id }) => id);
  }

  /** Those that the node's disk has files of. */
  async ofNode(db: RecordsDb, node: string): Promise<string[]> {
    const query = db.selectFrom('sampleExports').select('id').where('node', '=', node);
    return (await query.execute()).map(({ id }) => id);
  }

  /**
   * The next devices in order of id, behind one or from one on. `through` is the last id that was
   * looked for: of named devices, those that were deleted or moved to another workspace are omitted.
   */
  async nextDevices(
    db: RecordsDb,
    { workspaceId, deviceIds, tagIds }: ExportedDevices,
    start: { readonly id: string; readonly isIncluded: boolean },
  ): Promise<{
    readonly devices: readonly {
      readonly id: string;
      readonly name: string;
    }[];
    readonly through: string;
    readonly isLast: boolean;
  }> {
    const query = devicesOf(db, workspaceId).select(['devices.id', 'devices.name']);
    if (deviceIds !== null) {
      const isNext = (id: string) => id > start.id || (start.isIncluded && id === start.id);
      const next = deviceIds.filter(isNext).slice(0, devicesPerPage);
      const devices = await query
        .where(isOneOf('devices.id', next))
        .orderBy('devices.id')
        .execute();
      return { devices, through: next.at(-1) ?? start.id, isLast: next.length < devicesPerPage };
    }
    const found = tagIds === null ? query : query.where(hasTag(tagIds));
    const devices = await found
      .where('devices.id', start.isIncluded ? '>=' : '>', start.id)
      .orderBy('devices.id')
      .limit(devicesPerPage)
      .execute();
    const through = devices.at(-1)?.id ?? start.id;
    return { devices, through, isLast: devices.length < devicesPerPage };
  }

  /** How many devices there are now. */
  async countDevices(
    db: RecordsDb,
    { workspaceId, deviceIds, tagIds }: ExportedDevices,
  ): Promise<number> {
    const query = devicesOf(db, workspaceId).select((eb) => eb.fn.countAll<number>().as('count'));
    if (deviceIds === null) {
      const found = tagIds === null ? query : query.where(hasTag(tagIds));
      return Number((await found.executeTakeFirstOrThrow()).count);
    }
    let count = 0;
    for (let from = 0; from < deviceIds.length; from += devicesPerPage) {
      const named = isOneOf('devices.id', deviceIds.slice(from, from + devicesPerPage));
      count += Number((await query.where(named).executeTakeFirstOrThrow()).count);
    }
    return count;
  }
}

export const sampleExportRows = new SampleExportRows('sampleExports', exportToRow, exportFromRow);

interface ExportedDevices {
  readonly workspaceId: string;
  readonly deviceIds: readonly string[] | null;
  readonly tagIds: readonly string[] | null;
}

/** Devices of one query. */
const devicesPerPage = 200;

function devicesOf(db: RecordsDb, workspaceId: string) {
  return db.selectFrom('devices').where('devices.workspaceId', '=', workspaceId);
}

function hasTag(tagIds: readonly string[]) {
  const tagged = sql`select ${sql.ref('deviceId')} from ${sql.table('deviceTags')} where ${isOneOf('tagId', tagIds)}`;
  return sql<boolean>`${sql.ref('devices.id')} in (${tagged})`;
}
