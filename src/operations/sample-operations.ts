// Sample operations: delete or recalculate samples device by device, in pieces, also after a restart (contract 38).
import { auditDeletion, auditRecalculation } from '../inventory/operations/sample-changes.ts';
import { actorOfOperation } from '../inventory/operations/operations.ts';
import { change, type Step } from '../inventory/record-change.ts';
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
} from '../model/sample-changes.ts';
import type { Records } from '../storage/records/records.ts';
import { deviceRows } from '../storage/records/rows/devices.ts';
import {
  actionsFrom,
  operationRows,
  saveActions,
  saveProgress,
} from '../storage/records/rows/operations.ts';

interface SampleOperationParts {
  readonly records: Records;
  /** Both work on a piece, at the node that owns the device. */
  readonly delete: (request: DeletionRequest) => Promise<DeletionOutcome>;
  readonly recalculate: (piece: RecalculationPiece) => Promise<RecalculationOutcome>;
}

/** How far a device is. */
interface Reached {
  readonly actionId: string;
  readonly place: EpochMs | RecalculationPlace | null;
  readonly samples: number;
  /** That were deleted. */
  readonly rawUplinks: number;
  readonly keptUplinks: number;
}

/** What a piece did, and where the next one begins. */
type Done = Pick<Reached, 'samples' | 'rawUplinks' | 'keptUplinks'> & { next: Reached['place'] };

export class SampleOperations {
  readonly #parts: SampleOperationParts;
  /** By operation; after a restart its device begins again, where what is done changes nothing. */
  readonly #reached = new Map<string, Reached>();

  constructor(parts: SampleOperationParts) {
    this.#parts = parts;
  }

  /** Works on pieces until the time is up. Resolves with true when nothing is left. */
  readonly runChunk = async (id: string, isTimeUp: () => boolean): Promise<boolean> => {
    const { db } = this.#parts.records;
    do {
      const operation = await operationRows.find(db, id);
      const isOver = operation === undefined || operation.completed !== null;
      const [action] = isOver ? [] : await actionsFrom(db, id, operation.done, 1);
      if (isOver || action === undefined) {
        this.#reached.delete(id);
        return true;
      }
      if (await this.#runPiece(operation, action)) return true;
    } while (!isTimeUp());
    return false;
  };

  /** Resolves with true when that was the last of the operation. */
  async #runPiece(operation: Operation, action: OperationAction): Promise<boolean> {
    const { plan, id } = operation;
    const deviceId = String(action.input?.['id']);
    const known = this.#reached.get(id);
    const begin = { actionId: action.id, place: null, samples: 0, rawUplinks: 0, keptUplinks: 0 };
    let reached = known?.actionId === action.id ? known : begin;
    try {
      const device = await deviceRows.find(this.#parts.records, deviceId);
      if (device?.workspaceId !== operation.workspaceId)
        throw problem('notFound', { what: 'device', id: deviceId });
      const { next, ...done } = await this.#ask(plan, deviceId, reached.place);
      const samples = reached.samples + done.samples;
      const rawUplinks = reached.rawUplinks + done.rawUplinks;
      const keptUplinks = reached.keptUplinks + done.keptUplinks;
      reached = { ...reached, place: next, samples, rawUplinks, keptUplinks };
      if (next !== null) {
        this.#reached.set(id, reached);
        return false;
      }
      const told = keptUplinks > 0 && { reason: keptReason(keptUplinks) };
      const named = { name: device.name, id: device.id, deviceId: device.deviceId };
      const removed = rawUplinks > 0 && { rawUplinks };
      const data = { ...named, samples, ...removed, ...told };
      return await this.#end(operation, { ...action, state: 'SUCCEEDED', data }, reached);
    } catch (error) {
      if (!(error instanceof Problem) || isTemporary(error)) throw error;
      const { samples } = reached;
      const told = { errorCode: error.code, error: error.message };
      const data = { ...action.data, id: deviceId, samples, ...told };
      return this.#end(operation, { ...action, state: 'FAILED', data }, reached);
    }
  }

  async #ask(plan: OperationPlan, deviceId: string, place: Reached['place']): Promise<Done> {
    if (plan.work === 'deleteSamples') {
      const { work: _, ...deletion } = plan;
      const from = typeof place === 'number' ? place : deletion.from;
      const done = await this.#parts.delete({ deviceId, deletion: { ...deletion, from } });
      return { ...done, keptUplinks: 0 };
    }
    if (plan.work !== 'recalculate') throw new Error(`Work ${plan.work} changes no samples`);
    const { work: _, ...recalculation } = plan;
    const at = typeof place === 'number' ? null : place;
    const done = await this.#parts.recalculate({ deviceId, recalculation, place: at });
    return { ...done, rawUplinks: 0 };
  }

  async #end(operation: Operation, action: OperationAction, reached: Reached): Promise<boolean> {
    const { records } = this.#parts;
    const { id, plan } = operation;
    const actor = await actorOfOperation(records, id);
    this.#reached.delete(id);
    return change(records, async (step) => {
      const now = step.now();
      const current = await operationRows.find(step.db, id);
      if (current === undefined || current.completed !== null) return true;
      await saveActions(step.db, id, [{ ...action, started: now, completed: now }]);
      const done = current.done + 1;
      const failed = current.failed + (action.state === 'FAILED' ? 1 : 0);
      const isLast = done >= current.total;
      const completed = isLast ? now : null;
      await saveProgress(step.db, { ...current, done, failed, completed });
      if (actor !== undefined && reached.samples + reached.rawUplinks > 0)
        await audit(step, actor, plan, String(action.data['id']), reached);
      return isLast;
    });
  }
}

function audit(
  step: Step,
  actor: Actor,
  plan: OperationPlan,
  deviceId: string,
  { samples, rawUplinks }: Reached,
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
