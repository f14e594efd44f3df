// Remote sample changes: deletions, corrections and recalculations are made by the node that owns the device.
import type { GroupResults, PutResults } from '../model/calculation.ts';
import { refusalOf } from '../model/problem.ts';
import type {
  CorrectionOutcome,
  CorrectionRequest,
  DeletionOutcome,
  DeletionRequest,
  RecalculationOutcome,
  RecalculationPiece,
} from '../model/sample-changes.ts';
import {
  type AskOwners,
  atOwner,
  type CallOwner,
  type HeldFor,
  withDeviceLease,
} from './owned-devices.ts';

/** The call between nodes. */
export const sampleChangesCall = 'sampleChanges';

export interface SampleChangesOfNode {
  readonly delete: (request: DeletionRequest) => Promise<DeletionOutcome>;
  readonly correct: (request: CorrectionRequest) => Promise<CorrectionOutcome>;
  readonly recalculate: (piece: RecalculationPiece) => Promise<RecalculationOutcome>;
  /** Stores results of a calculation. */
  readonly put: PutResults;
}

interface Call {
  readonly work: keyof SampleChangesOfNode;
  readonly request: DeletionRequest | CorrectionRequest | RecalculationPiece | GroupResults;
}

/** Changes of own devices here, and of others at their owner. Throws its Problem. */
export function sampleChangesOfAll(
  askOwners: AskOwners,
  heldFor: HeldFor,
  own: SampleChangesOfNode,
): SampleChangesOfNode {
  const here = ownedChanges(heldFor, own);
  function ask<Outcome extends object>(call: Call, work: () => Promise<Outcome>) {
    const askOwner = (callOwner: CallOwner) => callOwner(sampleChangesCall, call);
    return atOwner(askOwners, call.request.deviceId, askOwner, work);
  }
  return {
    delete: (request) => ask({ work: 'delete', request }, () => here.delete(request)),
    correct: (request) => ask({ work: 'correct', request }, () => here.correct(request)),
    recalculate: (request) =>
      ask({ work: 'recalculate', request }, () => here.recalculate(request)),
    put: (request) => ask({ work: 'put', request }, () => here.put(request)),
  };
}

/** Answers the call of another node, for devices of this one. */
export function sampleChangesReceiver(heldFor: HeldFor, own: SampleChangesOfNode) {
  const here = ownedChanges(heldFor, own);
  return async (given: unknown): Promise<unknown> => {
    const { work, request } = given as Call;
    try {
      // The other node has sent what its work takes.
      return await here[work](request as never);
    } catch (error) {
      return refusalOf(error);
    }
  };
}

function ownedChanges(heldFor: HeldFor, own: SampleChangesOfNode): SampleChangesOfNode {
  return {
    delete: (request) => withDeviceLease(heldFor, request.deviceId, () => own.delete(request)),
    correct: (request) => withDeviceLease(heldFor, request.deviceId, () => own.correct(request)),
    recalculate: (request) =>
      withDeviceLease(heldFor, request.deviceId, () => own.recalculate(request)),
    put: (request) => withDeviceLease(heldFor, request.deviceId, () => own.put(request)),
  };
}
