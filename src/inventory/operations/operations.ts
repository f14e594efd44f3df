// Operations: accepted with all their items, worked on in chunks, each durable together with its progress (contract 19).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Actor, Principal } from '../../model/principal.ts';
import { idSequence, newId } from '../../model/ids.ts';
import { formatInstant, formatInstantOrNull } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import type {
  ActionState,
  ActionType,
  Operation,
  OperationAction,
  OperationPlan,
  OperationType,
} from '../../model/operation.ts';
import { pageOf, type PageRequest } from '../../model/page.ts';
import { problem, Problem } from '../../model/problem.ts';
import type { Records } from '../../storage/records/records.ts';
import { apiKeyRows, oauthClientRows } from '../../storage/records/rows/credentials.ts';
import { operationRows } from '../../storage/records/rows/operations.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { upTo } from '../../storage/records/rows/record-rows.ts';
import { userRows } from '../../storage/records/rows/users.ts';
import type { DeviceDraft } from '../../contract/devices.ts';
import { changeDevices, type DeviceChange } from '../devices/device-batch.ts';
import {
  askNetworkServers,
  deregistrationTold,
  isNetworkWork,
  isSkip,
  type NetworkAnswer,
  type NetworkAnswers,
  reasonOf,
  type TellNetworkServer,
} from '../devices/registration.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { change, found, type Step } from '../record-crud.ts';

export const operationLimits = {
  itemsMax: 50_000,
  /** Items that are worked on together, before the time is looked at. */
  batchItemsMax: 64,
  /** Stored bytes of their devices, unless the first one alone has more. */
  batchBytesMax: 256 * 1024,
  /** Items of a chunk whose network servers are asked. */
  askedItemsMax: 100,
  /** Actions in the answer about an operation, which programs ask for again and again. */
  actionsShown: 100,
} as const;

/** An item of a new operation; `name` identifies it for users. */
export interface OperationItem {
  readonly type: ActionType;
  readonly name: string;
  readonly input: JsonObject;
}

function actionView(
  { id, type, state, data, started, completed }: OperationAction,
  vendorNames = false,
) {
  return {
    id,
    type,
    // Clients of old refuse states that they do not know.
    state: vendorNames && state === 'SKIPPED' ? 'SUCCEEDED' : (state as ActionState),
    data,
    started: formatInstantOrNull(started),
    completed: formatInstantOrNull(completed),
  };
}

function view(operation: Operation, actions: readonly OperationAction[], vendorNames = false) {
  const { id, workspaceId, creator, type, plan, started, completed, total, done, failed } =
    operation;
  // A failed export is completed too.
  const canceled = completed !== null && done < total && plan.work !== 'export';
  return {
    id,
    workspaceId,
    creator,
    // Clients of old refuse types that they do not know.
    type: vendorNames && type === 'DATA_RECALCULATE' ? 'BULK_UPDATE' : type,
    actions: actions.map((action) => actionView(action, vendorNames)),
    started: formatInstant(started),
    completed: formatInstantOrNull(completed),
    totalActionsRequired: total,
    actionsCompleted: done,
    actionsFailed: failed,
    succeeded: completed === null ? null : failed === 0 && !canceled,
    canceled,
  };
}

/** Items that are prepared in one turn of the event loop. */
const itemsPerTurn = 1_000;

/** Durable when it returns; the work is the runner's. Throws 400 for no items or too many. */
export async function acceptOperation(
  records: Records,
  principal: Principal,
  draft: {
    readonly workspaceId: string;
    readonly type: OperationType;
    readonly plan: OperationPlan;
  },
  items: readonly OperationItem[],
) {
  if (items.length === 0)
    throw problem('invalidRequest', { reason: 'No devices match the selection' });
  if (items.length > operationLimits.itemsMax) {
    throw problem('invalidRequest', {
      reason: `An operation can include at most ${operationLimits.itemsMax} devices`,
    });
  }
  const { workspaceId, type, plan } = draft;
  const { organizationId } = principal;
  const operation: Operation = {
    id: newId('operation'),
    organizationId,
    workspaceId,
    creator: principal.id,
    type,
    plan,
    started: records.now(),
    completed: null,
    total: items.length,
    done: 0,
    failed: 0,
  };
  const actions: OperationAction[] = [];
  const actionId = idSequence('operationAction');
  for (const [place, { type: actionType, name, input }] of items.entries()) {
    const pending = {
      state: 'PENDING',
      input,
      data: { name },
      started: null,
      completed: null,
    } as const;
    actions.push({ id: actionId(), place, type: actionType, ...pending });
    if (place % itemsPerTurn === 0) await nextTurn();
  }
  await change(records, async (step) => {
    await operationRows.insertWithActions(step.db, operation, actions);
    step.announce({ kind: 'operation', id: operation.id, action: 'created' });
  });
  return view(operation, []);
}

/** The progress of an operation, without its actions. Throws Problem `notFound`. */
export async function readOperation(records: Records, id: string) {
  return view(found(await operationRows.find(records.db, id), 'operation', id), []);
}

/**
 * Ends the operation before its next item. One that is completed stays as it is. Throws Problem `notFound`, and 400 for an
 * export, which is canceled with its file.
 */
export async function cancelOperation(records: Records, id: string, vendorNames: boolean) {
  return change(records, async (step) => {
    const operation = found(await operationRows.find(step.db, id), 'operation', id);
    if (operation.completed !== null) return view(operation, [], vendorNames);
    if (operation.plan.work === 'export')
      throw problem('invalidRequest', {
        reason: `The operation is an export. Cancel it with DELETE /v3/exports/${id}.`,
      });
    const canceled = { ...operation, completed: step.now() };
    await operationRows.saveProgress(step.db, canceled);
    step.announce({ kind: 'operation', id, action: 'updated' });
    return view(canceled, [], vendorNames);
  });
}

/** Actions that are read and written in one turn of the event loop. */
const actionsPerTurn = 500;

const endedStates = ['SUCCEEDED', 'FAILED', 'SKIPPED'] as const satisfies readonly ActionState[];
/** What did not fail is counted together. */
const statesOf = { SUCCEEDED: ['SUCCEEDED', 'SKIPPED'], FAILED: ['FAILED'] } as const;

/**
 * One page of the actions that have ended, in order; with a state, of those in it. The work goes on
 * meanwhile, and later pages have more. Throws Problem `notFound`.
 */
export async function operationActions(
  records: Records,
  id: string,
  state: keyof typeof statesOf | undefined,
  request: PageRequest,
  vendorNames: boolean,
) {
  const { done, failed } = found(await operationRows.find(records.db, id), 'operation', id);
  const totals = { SUCCEEDED: done - failed, FAILED: failed } as const;
  const total = state === undefined ? done : totals[state];
  const from = request.page * request.size;
  const rows = await pageOfActions(records, { id, done, state, total }, from, request.size);
  return pageOf(
    rows.map((row) => actionView(row, vendorNames)),
    total,
    request,
  );
}

async function pageOfActions(
  { db }: Records,
  {
    id,
    done,
    state,
    total,
  }: {
    readonly id: string;
    /** Items end in order: those before this place. */
    readonly done: number;
    readonly state: keyof typeof statesOf | undefined;
    readonly total: number;
  },
  from: number,
  max: number,
): Promise<readonly OperationAction[]> {
  if (from >= total) return [];
  if (state !== undefined)
    return operationRows.actionsInState(db, id, {
      states: statesOf[state],
      before: done,
      from,
      max,
    });
  return operationRows.endedActions(db, id, endedStates, {
    from,
    before: Math.min(from + max, done),
  });
}

/**
 * The operation as JSON, in pieces, because it can have 50,000 actions. `actions` selects the ended
 * items that it contains. Throws Problem `notFound` before the first piece.
 */
export async function operationPieces(
  records: Records,
  id: string,
  actions: 'first' | 'failed' | 'none' | 'all',
  vendorNames: boolean,
) {
  if (actions !== 'all')
    return [JSON.stringify(await operationView(records, id, actions, vendorNames))];
  const operation = found(await operationRows.find(records.db, id), 'operation', id);
  const [head, tail] = JSON.stringify(view(operation, [], vendorNames)).split('"actions":[]') as [
    string,
    string,
  ];
  // Items end in order, so the answer contains those that its counts include and no later ones.
  const before = operation.done;
  return (async function* (): AsyncGenerator<string> {
    yield `${head}"actions":[`;
    let separator = '';
    for (let from = 0; from < before; from += actionsPerTurn) {
      const places = { from, before: Math.min(from + actionsPerTurn, before) };
      let text = '';
      for (const action of await operationRows.endedActions(records.db, id, endedStates, places)) {
        text += separator + JSON.stringify(actionView(action, vendorNames));
        separator = ',';
      }
      if (text !== '') yield text;
      await nextTurn();
    }
    yield `]${tail}`;
  })();
}

async function operationView(
  records: Records,
  id: string,
  actions: 'first' | 'failed' | 'none',
  vendorNames: boolean,
) {
  const operation = found(await operationRows.find(records.db, id), 'operation', id);
  const { done, failed } = operation;
  const shown = {
    first: { state: undefined, total: done },
    failed: { state: 'FAILED', total: failed },
    none: { state: undefined, total: 0 },
  } as const;
  const ended = { id, done, ...shown[actions] };
  const rows = await pageOfActions(records, ended, 0, operationLimits.actionsShown);
  return view(operation, rows, vendorNames);
}

/** Newest first, without their actions. */
export async function listOperations(
  records: Records,
  principal: Principal,
  scope: ListScope,
  page: PageRequest,
  vendorNames: boolean,
) {
  const reach = await listReach(records, principal, scope);
  const { rows, total } = await operationRows.list(records.db, reach, page);
  return pageOf(
    rows.map((row) => view(row, [], vendorNames)),
    total,
    page,
  );
}

/**
 * Works on the next items in one transaction until `isTimeUp`; true when none is left. After a
 * crash the items of a chunk are either all done and told, or none of them is, so that to go on
 * repeats nothing.
 */
export async function runOperationChunk(
  records: Records,
  id: string,
  isTimeUp: () => boolean,
  tellNetworkServer?: TellNetworkServer,
): Promise<boolean> {
  const answers = await askAhead(records, id, tellNetworkServer, isTimeUp);
  return change(records, async (step) => {
    const operation = await operationRows.find(step.db, id);
    if (operation === undefined || operation.completed !== null) return true;
    let { done, failed } = operation;
    // What a network server was asked is stored, however long that takes: it would be asked again.
    const isOver = () =>
      answers === undefined ? isTimeUp() : done - operation.done >= answers.size;
    do {
      const next = await operationRows.actionsFrom(
        step.db,
        id,
        done,
        operationLimits.batchItemsMax,
      );
      const due = next.filter((action) => answers?.has(action.id) ?? true);
      const ended = await runActions(step, operation, await moderate(step, due), answers);
      if (ended.length === 0) break;
      await operationRows.saveActions(step.db, id, ended);
      done += ended.length;
      failed += ended.filter(({ state }) => state === 'FAILED').length;
    } while (done < operation.total && !isOver());
    const isLast = done >= operation.total;
    await operationRows.saveProgress(step.db, {
      ...operation,
      done,
      failed,
      completed: endOf(step, isLast),
    });
    return isLast;
  });
}

/** The first items, as many as change devices of moderate size together. */
async function moderate(step: Step, actions: readonly OperationAction[]) {
  const ids = actions.flatMap(({ input }) =>
    typeof input?.['id'] === 'string' ? [input['id']] : [],
  );
  const sizes = await deviceRows.sizesOf(step.db, ids);
  const sizeOf = ({ input }: OperationAction) => sizes.get(String(input?.['id'])) ?? 0;
  return upTo(operationLimits.batchBytesMax, actions, sizeOf);
}

function endOf(step: Step, isLast: boolean): number | null {
  if (isLast) return step.now();
  return null;
}

/**
 * Asks network servers outside of a transaction, because their answers can take long. Undefined
 * where none is asked.
 */
async function askAhead(
  records: Records,
  id: string,
  tell: TellNetworkServer | undefined,
  isTimeUp: () => boolean,
): Promise<NetworkAnswers | undefined> {
  if (tell === undefined) return undefined;
  const operation = await operationRows.find(records.db, id);
  if (operation === undefined || operation.completed !== null) return undefined;
  const { plan, done } = operation;
  if (!isNetworkWork(plan.work) && plan.work !== 'delete') return undefined;
  const next = await operationRows.actionsFrom(records.db, id, done, operationLimits.askedItemsMax);
  return askNetworkServers(records, operation, next, tell, isTimeUp);
}

/** A rejected item changes nothing and does not stop the others. */
async function runActions(
  step: Step,
  operation: Operation,
  actions: readonly OperationAction[],
  answers: NetworkAnswers | undefined,
): Promise<OperationAction[]> {
  const isDeletion = operation.plan.work === 'delete';
  const now = step.now();
  const refusals = new Map<string, Problem>();
  for (const { id } of actions) {
    const answer = answers?.get(id);
    // A device is deleted whatever its network server says.
    if (answer instanceof Problem && !isDeletion) refusals.set(id, answer);
  }
  const asked = actions.filter(({ id }) => !refusals.has(id));
  const changes = asked.map((action) => changeOf(operation, action, answers?.get(action.id)));
  const outcomes = await changeDevices(step, changes, operation.workspaceId);
  const outcomeOf = new Map(asked.map(({ id }, at) => [id, outcomes[at]]));
  return actions.map((action) => {
    const answer = answers?.get(action.id);
    const ended = { ...action, started: now, completed: now };
    const outcome = refusals.get(action.id) ?? outcomeOf.get(action.id);
    if (outcome === undefined)
      throw new Error(`Action ${action.id} of an operation has no outcome`);
    if (outcome instanceof Problem) {
      const error = { errorCode: outcome.code, error: outcome.message };
      return { ...ended, state: 'FAILED', data: { ...failedData(action), ...error } };
    }
    const { name, id, deviceId } = outcome;
    const told = isDeletion ? deregistrationTold(answer) : reasonOf(answer);
    const state = isSkip(answer) && !isDeletion ? 'SKIPPED' : 'SUCCEEDED';
    return { ...ended, state, data: { ...action.data, name, id, deviceId, ...told } };
  });
}

function failedData({ data, input }: OperationAction) {
  const { id, deviceId } = input ?? {};
  return { ...data, ...(id && { id }), ...(deviceId && { deviceId }) };
}

/** What each kind of operation does with one of its items (contract 19). */
function changeOf(
  { plan, workspaceId }: Operation,
  { id: actionId, input }: OperationAction,
  answer: NetworkAnswer | undefined,
): DeviceChange {
  if (input === null) throw new Error(`Action ${actionId} of an operation has nothing to do`);
  if (plan.work === 'create' || (plan.work === 'import' && typeof input['id'] !== 'string'))
    return { work: 'create', draft: { ...input, workspaceId } as unknown as DeviceDraft };
  const id = String(input['id']);
  if (isNetworkWork(plan.work)) return { work: plan.work, id, isAgreed: !isSkip(answer) };
  switch (plan.work) {
    case 'delete':
      return { work: 'delete', id };
    case 'move':
    case 'tag':
      return { ...plan, id };
    default:
      return { work: 'update', id, sent: input };
  }
}

// In whose name an operation works on, also when its request was answered long ago or the platform started again in between.

/** Undefined for an operation that is gone. Somebody who was deleted meanwhile is told by id. */
export async function actorOfOperation(
  { db }: Records,
  operationId: string,
): Promise<Actor | undefined> {
  const operation = await operationRows.find(db, operationId);
  if (operation === undefined) return undefined;
  const id = operation.creator;
  // Changes name the operation where those of a request name the request.
  const about = { id, requestId: operationId, ip: '' };
  const key = await apiKeyRows.find(db, id);
  if (key !== undefined) return { ...about, type: 'API_KEY', name: key.name };
  const client = await oauthClientRows.find(db, id);
  if (client !== undefined) return { ...about, type: 'OAUTH_CLIENT', name: client.name };
  return { ...about, type: 'USER', name: (await userRows.find(db, id))?.name ?? id };
}
