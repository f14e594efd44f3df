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
  SettledChanges,
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
  /** Whether what it removed is gone for all nodes, also without this one. */
  readonly settled: (request: OfDevice) => Promise<SettledChanges>;
}

interface OfDevice {
  readonly deviceId: string;
}

interface Call {
  readonly work: keyof SampleChangesOfNode;
  readonly request:
    | DeletionRequest
    | CorrectionRequest
    | RecalculationPiece
    | GroupResults
    | OfDevice;
}

/** Changes of own devices here, and of others at their owner. Throws its Problem. */
export function sampleChangesOfAll(
  askOwners: AskOwners,
  owner: Owner,
  own: SampleChangesOfNode,
): SampleChangesOfNode {
  const here = ownedChanges(owner, own);
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
    settled: (request) => ask({ work: 'settled', request }, () => here.settled(request)),
  };
}

/** Answers the call of another node, for devices of this one. */
export function sampleChangesReceiver(owner: Owner, own: SampleChangesOfNode) {
  const here = ownedChanges(owner, own);
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

/** This node. */
interface Owner {
  readonly heldFor: HeldFor;
  readonly node: string;
}

function ownedChanges({ heldFor, node }: Owner, own: SampleChangesOfNode): SampleChangesOfNode {
  const owned = <T>({ deviceId }: OfDevice, work: () => Promise<T>) =>
    withDeviceLease(heldFor, deviceId, work);
  const told = async <T extends object>(request: OfDevice, work: () => Promise<T>) => ({
    ...(await owned(request, work)),
    node,
  });
  return {
    delete: (request) => told(request, () => own.delete(request)),
    correct: (request) => owned(request, () => own.correct(request)),
    recalculate: (request) => told(request, () => own.recalculate(request)),
    put: (request) => owned(request, () => own.put(request)),
    settled: (request) => told(request, () => own.settled(request)),
  };
}
