// Remote sample changes: deletions and corrections are made by the node that owns the device.
import { refusalOf } from '../model/problem.ts';
import type {
  CorrectionOutcome,
  CorrectionRequest,
  DeletionOutcome,
  DeletionRequest,
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
}

interface Call {
  readonly work: keyof SampleChangesOfNode;
  readonly request: DeletionRequest | CorrectionRequest;
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
  };
}

/** Answers the call of another node, for devices of this one. */
export function sampleChangesReceiver(heldFor: HeldFor, own: SampleChangesOfNode) {
  const here = ownedChanges(heldFor, own);
  return async (given: unknown): Promise<unknown> => {
    const { work, request } = given as Call;
    try {
      const outcome =
        work === 'delete'
          ? await here.delete(request as DeletionRequest)
          : await here.correct(request as CorrectionRequest);
      return outcome;
    } catch (error) {
      return refusalOf(error);
    }
  };
}

function ownedChanges(heldFor: HeldFor, own: SampleChangesOfNode): SampleChangesOfNode {
  return {
    delete: (request) => withDeviceLease(heldFor, request.deviceId, () => own.delete(request)),
    correct: (request) => withDeviceLease(heldFor, request.deviceId, () => own.correct(request)),
  };
}
