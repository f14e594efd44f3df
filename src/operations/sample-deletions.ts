// Sample deletions: operations that delete samples device by device, in pieces, also after a restart (contract 38).
import { auditDeletion } from '../inventory/operations/sample-deletion.ts';
import { actorOfOperation } from '../inventory/operations/operations.ts';
import { change } from '../inventory/record-change.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Operation, OperationAction } from '../model/operation.ts';
import { Problem, problem } from '../model/problem.ts';
import type { DeletionOutcome, DeletionRequest } from '../model/sample-changes.ts';
import type { Records } from '../storage/records/records.ts';
import { deviceRows } from '../storage/records/rows/devices.ts';
import {
  actionsFrom,
  operationRows,
  saveActions,
  saveProgress,
} from '../storage/records/rows/operations.ts';

export interface SampleDeletionParts {
  readonly records: Records;
  /** Deletes a piece at the node that owns the device. */
  readonly delete: (request: DeletionRequest) => Promise<DeletionOutcome>;
}

/** How far a device is that is deleted in pieces. */
interface Reached {
  readonly actionId: string;
  readonly from: EpochMs;
  readonly samples: number;
}

export class SampleDeletions {
  readonly #parts: SampleDeletionParts;
  /** By operation; after a restart its device begins again, where nothing is left to do. */
  readonly #reached = new Map<string, Reached>();

  constructor(parts: SampleDeletionParts) {
    this.#parts = parts;
  }

  /** Deletes pieces until the time is up. Resolves with true when nothing is left. */
  readonly runChunk = async (id: string, isTimeUp: () => boolean): Promise<boolean> => {
    const { db } = this.#parts.records;
    do {
      const operation = await operationRows.find(db, id);
      if (operation === undefined || operation.completed !== null) return true;
      const [action] = await actionsFrom(db, id, operation.done, 1);
      if (action === undefined || (await this.#runPiece(operation, action))) return true;
    } while (!isTimeUp());
    return false;
  };

  /** Resolves with true when that was the last of the operation. */
  async #runPiece(operation: Operation, action: OperationAction): Promise<boolean> {
    const { plan, id } = operation;
    if (plan.work !== 'deleteSamples') throw new Error(`Operation ${id} deletes no samples`);
    const { work: _, ...deletion } = plan;
    const deviceId = String(action.input?.['id']);
    const known = this.#reached.get(id);
    const reached = known?.actionId === action.id ? known : undefined;
    const from = reached?.from ?? deletion.from;
    let samples = reached?.samples ?? 0;
    try {
      const device = await deviceRows.find(this.#parts.records, deviceId);
      if (device?.workspaceId !== operation.workspaceId)
        throw problem('notFound', { what: 'device', id: deviceId });
      const done = await this.#parts.delete({ deviceId, deletion: { ...deletion, from } });
      samples += done.samples;
      if (done.next !== null) {
        this.#reached.set(id, { actionId: action.id, from: done.next, samples });
        return false;
      }
      const data = { name: device.name, id: device.id, deviceId: device.deviceId, samples };
      return await this.#end(operation, { ...action, state: 'SUCCEEDED', data }, samples);
    } catch (error) {
      // What may succeed later is tried again; the disk says when it has no room.
      if (!(error instanceof Problem) || (error.status >= 500 && error.status !== 507)) throw error;
      if (error.problem === 'tooManyRemovals') throw error;
      const told = { errorCode: error.code, error: error.message };
      const data = { ...action.data, id: deviceId, samples, ...told };
      return this.#end(operation, { ...action, state: 'FAILED', data }, samples);
    }
  }

  async #end(operation: Operation, action: OperationAction, samples: number): Promise<boolean> {
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
      if (actor !== undefined && samples > 0 && plan.work === 'deleteSamples')
        await auditDeletion(step, actor, String(action.data['id']), { ...plan, samples });
      return isLast;
    });
  }
}
