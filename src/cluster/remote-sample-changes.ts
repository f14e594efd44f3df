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
  atOwner,
  type CallOwner,
  type DeviceOwnership,
  type HeldFor,
  type OwnedRequest,
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

type ChangeRequest =
  | DeletionRequest
  | CorrectionRequest
  | RecalculationPiece
  | GroupResults
  | OfDevice;

interface Call extends OwnedRequest<ChangeRequest> {
  readonly work: keyof SampleChangesOfNode;
}

/** Changes of own devices here, and of others at their owner. Throws its Problem. `node` is this one. */
export function sampleChangesOfAll(
  { askOwners, heldFor, deviceWorkspaces }: DeviceOwnership,
  node: string,
  own: SampleChangesOfNode,
): SampleChangesOfNode {
  const here = namedChanges(node, own);
  async function ask<Outcome extends object>(
    work: keyof SampleChangesOfNode,
    request: ChangeRequest,
    change: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const workspace = await deviceWorkspaces.of(request.deviceId);
    // It says that there is no such device.
    if (workspace === undefined) return change();
    const { workspaceId } = workspace;
    const call: Call = { work, workspaceId, request };
    const askOwner = (callOwner: CallOwner) => callOwner(sampleChangesCall, call);
    return atOwner(askOwners, workspaceId, askOwner, () =>
      withDeviceLease(heldFor, workspaceId, change),
    );
  }
  return {
    delete: (request) => ask('delete', request, () => here.delete(request)),
    correct: (request) => ask('correct', request, () => here.correct(request)),
    recalculate: (request) => ask('recalculate', request, () => here.recalculate(request)),
    put: (request) => ask('put', request, () => here.put(request)),
    settled: (request) => ask('settled', request, () => here.settled(request)),
  };
}

/** This node. */
interface Owner {
  readonly heldFor: HeldFor;
  readonly node: string;
}

/** Answers the call of another node, for devices of this one. */
export function sampleChangesReceiver({ heldFor, node }: Owner, own: SampleChangesOfNode) {
  const here = namedChanges(node, own);
  return async (given: unknown): Promise<unknown> => {
    const { work, workspaceId, request } = given as Call;
    try {
      // The other node has sent what its work takes.
      const change = () => here[work](request as never) as Promise<object>;
      return await withDeviceLease(heldFor, workspaceId, change);
    } catch (error) {
      return refusalOf(error);
    }
  };
}

/** The outcomes name the node that has what was removed. */
function namedChanges(node: string, own: SampleChangesOfNode): SampleChangesOfNode {
  const named = async <T extends object>(work: Promise<T>) => ({ ...(await work), node });
  return {
    delete: (request) => named(own.delete(request)),
    correct: (request) => own.correct(request),
    recalculate: (request) => named(own.recalculate(request)),
    put: (request) => own.put(request),
    settled: (request) => named(own.settled(request)),
  };
}
