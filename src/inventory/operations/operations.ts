// Operations: accepted with all their items, worked on in chunks, each durable together with its progress (contract 19).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Actor } from '../../model/actor.ts';
import type { Device } from '../../model/device.ts';
import { newId } from '../../model/ids.ts';
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
import type { Principal } from '../../model/principal.ts';
import { Problem, problem } from '../../model/problem.ts';
import type { RecordChange } from '../../model/record.ts';
import type { Records } from '../../storage/records/records.ts';
import { apiKeyRows, oauthClientRows } from '../../storage/records/rows/credentials.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import {
  actionsFrom,
  actionsInState,
  endedActions,
  insertOperation,
  operationRows,
  saveAction,
  saveProgress,
} from '../../storage/records/rows/operations.ts';
import { userRows } from '../../storage/records/rows/users.ts';
import type { DeviceDraft, DeviceUpdate } from '../../contract/devices.ts';
import {
  createDeviceStep,
  deleteDeviceStep,
  DeviceLookups,
  moveDeviceStep,
  tagDeviceStep,
  updateDeviceStep,
} from '../devices/devices.ts';
import {
  askNetworkServers,
  deregistrationTold,
  isNetworkWork,
  isSkip,
  type NetworkAnswer,
  type NetworkAnswers,
  reasonOf,
  registrationStep,
  type TellNetworkServer,
} from '../devices/registration.ts';
import { listReach, type ListScope } from '../list-scope.ts';
import { change, found, type Step } from '../record-change.ts';

export const operationLimits = {
  itemsMax: 50_000,
  chunkItemsMax: 100,
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
  const { id, workspaceId, creator, type, started, completed, total, done, failed } = operation;
  return {
    id,
    workspaceId,
    creator,
    type,
    actions: actions.map((action) => actionView(action, vendorNames)),
    started: formatInstant(started),
    completed: formatInstantOrNull(completed),
    totalActionsRequired: total,
    actionsCompleted: done,
    actionsFailed: failed,
    succeeded: completed === null ? null : failed === 0,
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
  for (const [place, { type: actionType, name, input }] of items.entries()) {
    const pending = {
      state: 'PENDING',
      input,
      data: { name },
      started: null,
      completed: null,
    } as const;
    actions.push({ id: newId('operationAction'), place, type: actionType, ...pending });
    if (place % itemsPerTurn === 0) await nextTurn();
  }
  await change(records, async (step) => {
    await insertOperation(step.db, operation, actions);
    step.announce({ kind: 'operation', id: operation.id, action: 'created' });
  });
  return view(operation, []);
}

/** The progress of an operation, without its actions. Throws Problem `notFound`. */
export async function readOperation(records: Records, id: string) {
  return view(found(await operationRows.find(records.db, id), 'operation', id), []);
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
    return actionsInState(db, id, { states: statesOf[state], before: done, from, max });
  return endedActions(db, id, endedStates, { from, before: Math.min(from + max, done) });
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
  const [head, tail] = JSON.stringify(view(operation, [])).split('"actions":[]') as [
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
      for (const action of await endedActions(records.db, id, endedStates, places)) {
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
) {
  const reach = await listReach(records, principal, scope);
  const { rows, total } = await operationRows.list(records.db, reach, page);
  return pageOf(
    rows.map((row) => view(row, [])),
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
    const lookups = new DeviceLookups(step);
    for (const action of await actionsFrom(step.db, id, done, operationLimits.chunkItemsMax)) {
      if (answers !== undefined && !answers.has(action.id)) break;
      const answer = answers?.get(action.id);
      const ended = await runAction({ step, lookups }, operation, action, answer);
      await saveAction(step.db, ended);
      done += 1;
      if (ended.state === 'FAILED') failed += 1;
      // What a network server was asked is stored, however long that takes: it would be asked again.
      if (answers === undefined && isTimeUp()) break;
    }
    const isLast = done >= operation.total;
    await saveProgress(step.db, {
      ...operation,
      done,
      failed,
      completed: endOf(step, isLast),
    });
    return isLast;
  });
}

function endOf(step: Step, isLast: boolean): number | null {
  if (isLast) return step.now();
  return null;
}

/** Asks network servers outside of a transaction, because their answers can take long. */
async function askAhead(
  records: Records,
  id: string,
  tell: TellNetworkServer | undefined,
  isTimeUp: () => boolean,
): Promise<NetworkAnswers | undefined> {
  const operation = await operationRows.find(records.db, id);
  if (operation === undefined || operation.completed !== null) return undefined;
  const next = await actionsFrom(records.db, id, operation.done, operationLimits.chunkItemsMax);
  return askNetworkServers(records, operation, next, tell, isTimeUp);
}

/** A rejected item changes nothing and does not stop the others. */
async function runAction(
  { step, lookups }: { readonly step: Step; readonly lookups: DeviceLookups },
  operation: Operation,
  action: OperationAction,
  answer: NetworkAnswer | undefined,
): Promise<OperationAction> {
  const now = step.now();
  const changes: RecordChange[] = [];
  const tasks: (() => void)[] = [];
  const ended = { ...action, started: now, completed: now };
  await sql`savepoint item`.execute(step.db);
  try {
    const isDeletion = operation.plan.work === 'delete';
    if (answer instanceof Problem && !isDeletion) throw answer;
    const isSkipped = isSkip(answer);
    const device = await workOn(
      {
        ...step,
        announce: (one) => void changes.push(one),
        afterCommit: (task) => void tasks.push(task),
      },
      operation,
      action,
      { isAgreed: !isSkipped, lookups },
    );
    await sql`release savepoint item`.execute(step.db);
    for (const one of changes) step.announce(one);
    for (const task of tasks) step.afterCommit(task);
    const { name, id, deviceId } = device;
    const told = isDeletion ? deregistrationTold(answer) : reasonOf(answer);
    const state = isSkipped && !isDeletion ? 'SKIPPED' : 'SUCCEEDED';
    return { ...ended, state, data: { ...action.data, name, id, deviceId, ...told } };
  } catch (error) {
    // A full or failing disk is not an error of the item: the operation continues when the disk
    // works again.
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    await sql`rollback to savepoint item`.execute(step.db);
    await sql`release savepoint item`.execute(step.db);
    return {
      ...ended,
      state: 'FAILED',
      data: { ...failedData(action), errorCode: error.code, error: error.message },
    };
  }
}

function failedData({ data, input }: OperationAction) {
  const { id, deviceId } = input ?? {};
  return { ...data, ...(id && { id }), ...(deviceId && { deviceId }) };
}

// What each kind of operation does with one of its items (contract 19).

/** Throws Problem for an item that cannot be done. */
async function workOn(
  step: Step,
  operation: Operation,
  action: OperationAction,
  { isAgreed, lookups }: { readonly isAgreed: boolean; readonly lookups: DeviceLookups },
): Promise<Pick<Device, 'id' | 'deviceId' | 'name'>> {
  const { input } = action;
  if (input === null) throw new Error(`Action ${action.id} of an operation has nothing to do`);
  const { plan, workspaceId } = operation;
  const { id } = input;
  if (plan.work === 'create' || (plan.work === 'import' && typeof id !== 'string')) {
    return createDeviceStep(step, { ...input, workspaceId } as unknown as DeviceDraft, lookups);
  }
  const deviceId = String(id);
  const device = await deviceRows.find(step, deviceId);
  if (device?.workspaceId !== workspaceId)
    throw problem('notFound', { what: 'device', id: deviceId });
  if (isNetworkWork(plan.work)) return registrationStep(step, deviceId, plan.work, isAgreed);
  return onDevice(step, plan, deviceId, input);
}

function onDevice(
  step: Step,
  plan: OperationPlan,
  id: string,
  update: DeviceUpdate,
): Promise<Pick<Device, 'id' | 'deviceId' | 'name'>> {
  switch (plan.work) {
    case 'delete':
      return deleteDeviceStep(step, id);
    case 'move':
      return moveDeviceStep(step, id, plan);
    case 'tag':
      return tagDeviceStep(step, id, plan);
    default:
      return updateDeviceStep(step, id, update);
  }
}

// In whose name an operation works on, also when its request was answered long ago or the platform started again in between.

/** Undefined for an operation that is gone. Somebody who was deleted meanwhile is told by id. */
export async function actorOfOperation(
  { db }: Pick<Records, 'db'>,
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
