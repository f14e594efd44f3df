// Sample operations: delete or recalculate samples device by device, in pieces, also after a restart (contract 38).
import { auditDeletion, auditRecalculation } from '../inventory/operations/sample-changes.ts';
import { actorOfOperation } from '../inventory/operations/operations.ts';
import { change, type Step } from '../inventory/record-crud.ts';
import type { Actor } from '../model/principal.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Operation, OperationAction, OperationPlan } from '../model/operation.ts';
import { problem, Problem } from '../model/problem.ts';
import type {
  DeletionOutcome,
  DeletionRequest,
  RecalculationOutcome,
  RecalculationPiece,
  RecalculationPlace,
  SettledChanges,
} from '../model/sample-changes.ts';
import { missing } from '../structures/missing.ts';
import type { Records } from '../storage/records/records.ts';
import { deviceRows } from '../storage/records/rows/devices.ts';
import { operationRows } from '../storage/records/rows/operations.ts';

const settlingLimits = {
  /** Devices that are looked at together. */
  devicesMax: 100,
  /** Between two looks, so that other operations have their turns. */
  pauseMs: 50,
  /** Then maintenance removes the rest, and the operation is completed. */
  waitMsMax: 120_000,
} as const;

/** How far a device is. */
interface Reached {
  readonly actionId: string;
  readonly place: EpochMs | RecalculationPlace | null;
  readonly samples: number;
  /** That were deleted. */
  readonly rawUplinks: number;
  readonly keptUplinks: number;
  /** That did the last piece. */
  readonly node: string | undefined;
}

/** What a piece did, and where the next one begins. */
type Done = Pick<Reached, 'samples' | 'rawUplinks' | 'keptUplinks' | 'node'> & {
  readonly next: Reached['place'];
};

/** A device with which nothing is left to do. */
interface Ended extends Pick<Reached, 'samples' | 'rawUplinks' | 'node'> {
  readonly action: OperationAction;
}

export class SampleOperations {
  readonly #parts;
  /** By operation; after a restart its device begins again, where what is done changes nothing. */
  readonly #reached = new Map<string, Reached>();
  /** Since when operations wait until what they changed is settled. */
  readonly #waitsSince = new Map<string, number>();

  constructor(parts: {
    readonly records: Records;
    /** Both work on a piece, at the node that owns the device. */
    readonly delete: (request: DeletionRequest) => Promise<DeletionOutcome>;
    readonly recalculate: (piece: RecalculationPiece) => Promise<RecalculationOutcome>;
    /**
     * With several nodes: what a node removed is hidden by that node until it is out of the shared
     * store. The operation is completed when it is. When the node is lost before, the next owner of
     * the device does it again, so that nothing comes back.
     */
    readonly settling?: {
      readonly settled: (request: { readonly deviceId: string }) => Promise<SettledChanges>;
      /** Milliseconds of a monotonic clock. */
      readonly clock: () => number;
      readonly pause: (ms: number) => Promise<void>;
    };
  }) {
    this.#parts = parts;
  }

  /** Works on pieces until the time is up. Resolves with true when nothing is left. */
  readonly runChunk = async (id: string, isTimeUp: () => boolean): Promise<boolean> => {
    do {
      const operation = await operationRows.find(this.#parts.records.db, id);
      if (await this.#isOver(operation)) {
        this.#reached.delete(id);
        this.#waitsSince.delete(id);
        return true;
      }
    } while (!isTimeUp() && !this.#waitsSince.has(id));
    return false;
  };

  async #isOver(operation: Operation | undefined): Promise<boolean> {
    if (operation === undefined) return true;
    if (operation.completed !== null) {
      await this.#saveCanceled(operation);
      return true;
    }
    return operation.done < operation.total ? this.#runNext(operation) : this.#settle(operation);
  }

  async #runNext(operation: Operation): Promise<boolean> {
    const { db } = this.#parts.records;
    const [action] = await operationRows.actionsFrom(db, operation.id, operation.done, 1);
    if (action === undefined) return true;
    const ended = await this.#runPiece(operation, action);
    return ended !== undefined && this.#save(operation, ended);
  }

  /** Resolves with what became of the device when that was its last piece. */
  async #runPiece(operation: Operation, action: OperationAction): Promise<Ended | undefined> {
    const { plan, id } = operation;
    const deviceId = deviceOf(action);
    const known = this.#reached.get(id);
    const none = { samples: 0, rawUplinks: 0, keptUplinks: 0, node: undefined };
    const begin: Reached = { actionId: action.id, place: null, ...none };
    let reached = known?.actionId === action.id ? known : begin;
    try {
      const device = await deviceRows.find(this.#parts.records, deviceId);
      if (device?.workspaceId !== operation.workspaceId)
        throw problem('notFound', { what: 'device', id: deviceId });
      const { next, node, ...done } = await this.#ask(plan, deviceId, reached.place);
      reached = {
        actionId: action.id,
        place: next,
        node,
        samples: reached.samples + done.samples,
        rawUplinks: reached.rawUplinks + done.rawUplinks,
        keptUplinks: reached.keptUplinks + done.keptUplinks,
      };
      this.#reached.set(id, reached);
      if (next !== null) return undefined;
      const { keptUplinks } = reached;
      // What another node did of the device before is hidden, and not counted again.
      const samples = Math.max(reached.samples, countOf(action, 'samples'));
      const rawUplinks = Math.max(reached.rawUplinks, countOf(action, 'rawUplinks'));
      const told = keptUplinks > 0 && { reason: keptReason(keptUplinks) };
      const named = { name: device.name, id: device.id, deviceId: device.deviceId };
      const removed = rawUplinks > 0 && { rawUplinks };
      const data = { ...named, samples, ...removed, ...told };
      this.#reached.delete(id);
      return { ...endedAs('SUCCEEDED', action, data), samples, rawUplinks, node };
    } catch (error) {
      if (!(error instanceof Problem) || isTemporary(error)) throw error;
      this.#reached.delete(id);
      const { samples, rawUplinks, node } = reached;
      const told = { errorCode: error.code, error: error.message };
      const data = { ...action.data, id: deviceId, samples, ...told };
      return { ...endedAs('FAILED', action, data), samples, rawUplinks, node };
    }
  }

  async #ask(plan: OperationPlan, deviceId: string, place: Reached['place']): Promise<Done> {
    if (plan.work === 'deleteSamples') {
      const { work: _, ...deletion } = plan;
      const from = typeof place === 'number' ? place : deletion.from;
      const done = await this.#parts.delete({ deviceId, deletion: { ...deletion, from } });
      return { ...done, node: done.node, keptUplinks: 0 };
    }
    if (plan.work !== 'recalculate') throw new Error(`Work ${plan.work} changes no samples`);
    const { work: _, ...recalculation } = plan;
    const at = typeof place === 'number' ? null : place;
    const done = await this.#parts.recalculate({ deviceId, recalculation, place: at });
    return { ...done, node: done.node, rawUplinks: 0 };
  }

  /** Resolves with true when that was the last device. */
  async #save(operation: Operation, ended: Ended): Promise<boolean> {
    const { records, settling } = this.#parts;
    const { id, plan } = operation;
    const { samples, rawUplinks } = ended;
    const actor = await actorOfOperation(records, id);
    return change(records, async (step) => {
      const now = step.now();
      const current = await operationRows.find(step.db, id);
      if (current === undefined) return true;
      const action = { ...ended.action, started: now, completed: now };
      await operationRows.saveActions(step.db, id, [action]);
      await this.#noteNode(step, ended);
      const done = current.done + 1;
      const failed = current.failed + (action.state === 'FAILED' ? 1 : 0);
      const isLast = settling === undefined && done >= current.total;
      const progress = { ...current, done, failed, completed: isLast ? now : null };
      // What was done when somebody canceled it is counted too.
      if (current.completed === null) await operationRows.saveProgress(step.db, progress);
      else await operationRows.saveEndedLate(step.db, progress);
      if (actor !== undefined && samples + rawUplinks > 0)
        await audit(step, actor, plan, deviceOf(action), ended);
      return isLast || current.completed !== null;
    });
  }

  async #noteNode(step: Step, { action, samples, node }: Ended): Promise<void> {
    if (this.#parts.settling === undefined || samples === 0 || node === undefined) return;
    await operationRows.noteUnsettled(step.db, action.id, { id: deviceOf(action), node });
  }

  /** Resolves with true when no node hides what was removed, or that takes too long. */
  async #settle(operation: Operation): Promise<boolean> {
    const { records, settling } = this.#parts;
    const { id } = operation;
    const max = settlingLimits.devicesMax;
    const unsettled = settling && (await operationRows.unsettledActions(records.db, id, max));
    const settled: string[] = [];
    for (const action of unsettled ?? []) {
      const look = await this.#look(operation, action);
      if (look === 'again') return false;
      if (look === 'waits') break;
      settled.push(action.id);
    }
    const isLast = settled.length === (unsettled?.length ?? 0) && settled.length < max;
    if (settled.length === 0 && !isLast) return false;
    await change(records, async (step) => {
      if (settled.length > 0) await operationRows.noteSettled(step.db, settled);
      const current = await operationRows.find(step.db, id);
      if (current !== undefined && isLast)
        await operationRows.saveProgress(step.db, { ...current, completed: step.now() });
    });
    return isLast;
  }

  /** A device that another node has by now is done again there. */
  async #look(
    operation: Operation,
    action: OperationAction,
  ): Promise<'settled' | 'waits' | 'again'> {
    const { records, settling = missing('other nodes') } = this.#parts;
    const { id } = operation;
    const { node, isSettled } = await settling.settled({ deviceId: deviceOf(action) });
    if (node !== action.input?.['node']) {
      const ended = await this.#runPiece(operation, action);
      if (ended?.action.state === 'FAILED') return 'settled';
      if (ended !== undefined)
        await change(records, async (step) => {
          await operationRows.saveActions(step.db, id, [ended.action]);
          await this.#noteNode(step, ended);
        });
      return 'again';
    }
    const since = this.#waitsSince.get(id) ?? settling.clock();
    if (isSettled || settling.clock() - since >= settlingLimits.waitMsMax) return 'settled';
    this.#waitsSince.set(id, since);
    await settling.pause(settlingLimits.pauseMs);
    return 'waits';
  }

  /** What was done of a device in part before the operation was canceled. */
  async #saveCanceled(operation: Operation): Promise<void> {
    const { id, done } = operation;
    const reached = this.#reached.get(id);
    if (reached === undefined || reached.samples + reached.rawUplinks === 0) return;
    const [action] = await operationRows.actionsFrom(this.#parts.records.db, id, done, 1);
    if (action?.id !== reached.actionId) return;
    const { code: errorCode, message: error } = problem('changeCanceled');
    const { samples } = reached;
    const data = { ...action.data, id: deviceOf(action), samples, errorCode, error };
    await this.#save(operation, { ...reached, ...endedAs('FAILED', action, data) });
  }
}

function endedAs(
  state: 'SUCCEEDED' | 'FAILED',
  action: OperationAction,
  data: OperationAction['data'],
): { readonly action: OperationAction } {
  return { action: { ...action, state, data } };
}

/** Of an action that has ended, its input is gone. */
function deviceOf({ input, data }: OperationAction): string {
  return String(input?.['id'] ?? data['id']);
}

function countOf({ data }: OperationAction, name: 'samples' | 'rawUplinks'): number {
  return Number(data[name] ?? 0);
}

function audit(
  step: Step,
  actor: Actor,
  plan: OperationPlan,
  deviceId: string,
  { samples, rawUplinks }: { readonly samples: number; readonly rawUplinks: number },
): Promise<void> {
  if (plan.work === 'deleteSamples') {
    const { work: _, rawUplinks: removesUplinks, ...deletion } = plan;
    const counts = { samples, rawUplinks: removesUplinks ? rawUplinks : null };
    return auditDeletion(step, actor, deviceId, { ...deletion, ...counts });
  }
  if (plan.work === 'recalculate')
    return auditRecalculation(step, actor, deviceId, { ...plan, samples });
  throw new Error(`Work ${plan.work} changes no samples`);
}

/** What may succeed later is tried again; the disk says when it has no room. */
function isTemporary({ problem: name, status }: Problem): boolean {
  if (name === 'tooManyRemovals' || status === 429) return true;
  return status >= 500 && status !== 507 && name !== 'samplesDamaged';
}

function keptReason(count: number): string {
  const uplinks =
    count === 1 ? '1 raw uplink keeps its samples' : `${count} raw uplinks keep their samples`;
  return `${uplinks}: the decoder failed, or the samples were too large to be kept with the uplink`;
}
