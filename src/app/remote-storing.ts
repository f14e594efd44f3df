// Connects what is stored for devices of other nodes: samples and entries go to the owners of their devices.
import type { Parts } from './platform-parts.ts';
import type { BatchStages } from '../uplinks/bulk/backfill-batches.ts';
import type { RawUplinks } from '../uplinks/followers/raw-uplink-follower.ts';
import { listAtOwner, rawUplinksCall, rawUplinksReceiver } from '../cluster/remote-raw-uplinks.ts';
import type { DeviceOwnership } from '../cluster/owned-devices.ts';
import {
  type AppendEntry,
  createRemoteEntries,
  createRemoteSamples,
  entriesCall,
  entriesReceiver,
  samplesCall,
  samplesReceiver,
} from '../cluster/remote-samples.ts';
import {
  sampleChangesCall,
  sampleChangesOfAll,
  type SampleChangesOfNode,
  sampleChangesReceiver,
} from '../cluster/remote-sample-changes.ts';
import type { CallHandlers } from '../cluster/nodes/nodes.ts';

export interface RemoteStoring extends Required<Pick<BatchStages, 'storeElsewhere'>> {
  readonly appendEntry: AppendEntry;
  readonly listRawUplinks: RawUplinks['list'];
  readonly sampleChanges: SampleChangesOfNode;
  /** What other nodes ask this one to store. */
  readonly handlers: CallHandlers;
}

type Stages = Pick<BatchStages, 'append' | 'announce' | 'admit' | 'calculate' | 'validate'> &
  Pick<RawUplinks, 'list'> & { readonly sampleChanges: SampleChangesOfNode };

export function composeRemoteStoring(
  { newId }: Parts,
  { heldFor, askOwners }: DeviceOwnership,
  { list, sampleChanges, ...stages }: Stages,
): RemoteStoring {
  const own = { ...stages, newId, heldFor };
  return {
    storeElsewhere: createRemoteSamples(askOwners, own),
    listRawUplinks: listAtOwner(askOwners, list),
    appendEntry: createRemoteEntries(askOwners, own),
    sampleChanges: sampleChangesOfAll(askOwners, heldFor, sampleChanges),
    handlers: new Map([
      [samplesCall, samplesReceiver(own)],
      [entriesCall, entriesReceiver(own)],
      [sampleChangesCall, sampleChangesReceiver(heldFor, sampleChanges)],
      [rawUplinksCall, rawUplinksReceiver(heldFor, list)],
    ]),
  };
}
