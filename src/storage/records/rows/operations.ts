// Operations and their actions in the records store: progress is committed together with what it tells of.
import type { Selectable } from 'kysely';
import type { JsonObject } from '../../../model/json.ts';
import type {
  ActionData,
  ActionState,
  ActionType,
  Operation,
  OperationAction,
  OperationPlan,
  OperationType,
} from '../../../model/operation.ts';
import type { PageRequest } from '../../../model/page.ts';
import {
  fromJsonText,
  fromJsonTextOrNull,
  isOneOf,
  toJsonText,
  toJsonTextOrNull,
} from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import { pageOfRows, type Rows, type WorkspaceFilter } from '../list.ts';
import type { RecordTables } from '../schema.ts';

// One statement writes this many rows: few enough for every engine's parameter limit, many enough
// to be quick.
const rowsPerStatement = 100;

function fromRow(row: Selectable<RecordTables['operations']>): Operation {
  return { ...row, type: row.type as OperationType, plan: fromJsonText<OperationPlan>(row.plan) };
}

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

/** Within a transaction: an operation without its actions must never be seen. */
export async function insertOperation(
  step: RecordsDb,
  record: Operation,
  actions: readonly OperationAction[],
): Promise<void> {
  await step
    .insertInto('operations')
    .values({ ...record, plan: toJsonText(record.plan) })
    .execute();
  for (let from = 0; from < actions.length; from += rowsPerStatement) {
    const rows = actions.slice(from, from + rowsPerStatement).map((action) => ({
      ...action,
      operationId: record.id,
      input: toJsonTextOrNull(action.input),
      data: toJsonText(action.data),
    }));
    await step.insertInto('operationActions').values(rows).execute();
  }
}

export async function findOperation(db: RecordsDb, id: string): Promise<Operation | undefined> {
  const row = await db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst();
  return row && fromRow(row);
}

/** Ids of the operations that are not completed, oldest first: of exports, or of all others. */
export async function unfinishedOperations(
  db: RecordsDb,
  kind: 'exports' | 'others',
): Promise<string[]> {
  const exporting: OperationType = 'DATA_EXPORT';
  const query = db
    .selectFrom('operations')
    .select('id')
    .where('completed', 'is', null)
    .where('type', kind === 'exports' ? '=' : '<>', exporting);
  return (await query.orderBy('started').orderBy('id').execute()).map((row) => row.id);
}

/** Newest first unless the page asks for another order. */
export async function listOperations(
  db: RecordsDb,
  filter: Omit<WorkspaceFilter, 'search'>,
  page: PageRequest,
): Promise<Rows<Operation>> {
  let query = db
    .selectFrom('operations')
    .selectAll()
    .where('organizationId', '=', filter.organizationId);
  if (filter.workspaceIds !== undefined)
    query = query.where(isOneOf('workspaceId', filter.workspaceIds));
  const columns = { started: 'started', completed: 'completed', type: 'type' };
  const defaultSort = [{ field: 'started', direction: 'desc' }] as const;
  const { rows, total } = await pageOfRows(query, page, { columns, defaultSort });
  return { rows: rows.map(fromRow), total };
}

/** The actions from a place on, in order, at most `max`. */
export async function actionsFrom(
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
  return rows.map(actionFromRow);
}

/** What became of the items from a place on and before another, in order. */
export async function endedActions(
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
export async function actionsInState(
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
export async function saveAction(
  step: RecordsDb,
  { id, state, data, started, completed }: OperationAction,
): Promise<void> {
  await step
    .updateTable('operationActions')
    .set({ state, data: toJsonText(data), started, completed, input: null })
    .where('id', '=', id)
    .execute();
}

export async function saveProgress(
  step: RecordsDb,
  { id, total, done, failed, completed }: Operation,
): Promise<void> {
  await step
    .updateTable('operations')
    .set({ total, done, failed, completed })
    .where('id', '=', id)
    .execute();
}
