// Connects samples and uplinks with the nodes that own their devices: what is read, stored and taken in elsewhere.
import { setTimeout as wait } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import type { OtherOwners } from '../uplinks/bulk/backfill-batches.ts';
import type { SampleStages } from '../uplinks/sample-stages.ts';
import type { RawUplinks } from '../uplinks/followers/followers.ts';
import { listAtOwner, rawUplinksCall, rawUplinksReceiver } from '../cluster/remote-raw-uplinks.ts';
import { type DeviceOwnership, withDeviceLease } from '../cluster/owned-devices.ts';
import {
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
import { type CallHandlers, type Nodes, NodeUnreachable } from '../cluster/nodes/nodes.ts';
import type { DeviceWorkspaces } from '../cluster/device-workspaces.ts';
import {
  type LeaseName,
  leaseOfWorkspace,
  type Leases,
  workspaceLeases,
} from '../cluster/leases/leases.ts';
import {
  createUsageElsewhere,
  type DeviceOwners,
  nodeUnreachable,
  OpenElsewhere,
  openSamplesCall,
  openSamplesReceiver,
  usageCall,
  usageReceiver,
} from '../cluster/remote-pending-samples.ts';
import type { NodeAddress } from '../model/node-messages.ts';
import type { DuplicateFilter } from '../transports/duplicate-filter.ts';
import type { KeptSamples } from '../model/kept-samples.ts';
import type { Uplink } from '../model/uplink.ts';

export function composeRemoteStoring(
  { node }: Parts,
  ownership: DeviceOwnership,
  stages: SampleStages,
  { list }: RawUplinks,
  sampleChanges: SampleChangesOfNode,
) {
  const { askOwners, heldFor } = ownership;
  const own = { stages, heldFor };
  const owner = { heldFor, node: node?.id ?? '' };
  return {
    others: { heldFor, storeElsewhere: createRemoteSamples(askOwners, own) } satisfies OtherOwners,
    listRawUplinks: listAtOwner(ownership, list),
    appendEntry: createRemoteEntries(ownership, own),
    sampleChanges: sampleChangesOfAll(ownership, owner.node, sampleChanges),
    /** What other nodes ask this one to store. */
    handlers: new Map([
      [samplesCall, samplesReceiver(own)],
      [entriesCall, entriesReceiver(own)],
      [sampleChangesCall, sampleChangesReceiver(owner, sampleChanges)],
      [rawUplinksCall, rawUplinksReceiver(heldFor, list)],
    ]),
  };
}

// Connects reads with the open samples of other nodes: asks their owners, and answers what others ask.

/** From now on, reads of this node merge what the others have. */
export function readElsewhere(
  { sharedSamples }: Parts,
  leases: Leases,
  nodes: Nodes,
  deviceWorkspaces: DeviceWorkspaces,
): {
  /** See `OpenElsewhere`. */
  readonly gained: () => void;
  /** What other nodes can ask. */
  readonly handlers: CallHandlers;
} {
  if (sharedSamples === undefined) return { gained: () => undefined, handlers: new Map() };
  const owners = ownersBy(leases, deviceWorkspaces);
  const call = (to: NodeAddress, name: string, request: unknown) =>
    nodes.call(to, name, request).catch((error: unknown) => {
      if (!(error instanceof NodeUnreachable)) throw error;
      if (error.wasSent) throw nodeUnreachable(to);
      return undefined;
    });
  const { read, gained, formerOwners, changes } = new OpenElsewhere({
    owners,
    self: leases.node.id,
    now: () => performance.now(),
    wait: (ms) => wait(ms),
    call,
  });
  const self = leases.node.id;
  const others = () => {
    const byId = new Map([...owners.owners().values()].map((node) => [node.id, node]));
    return [...byId.values()].filter(({ id }) => id !== self);
  };
  sharedSamples.useElsewhere({ read, changes, usage: createUsageElsewhere(others, call) });
  const { openHere, usageHere } = sharedSamples;
  const receive = openSamplesReceiver({ openHere, formerOwners, holds: owners.isOwn });
  const handlers: CallHandlers = new Map([
    [openSamplesCall, receive],
    [usageCall, usageReceiver(usageHere)],
  ]);
  return { gained, handlers };
}

function ownersBy(leases: Leases, deviceWorkspaces: DeviceWorkspaces): DeviceOwners {
  let read: ReturnType<Leases['owners']> | undefined;
  let known: ReadonlyMap<string, NodeAddress> = new Map();
  return {
    async leasesOf(deviceIds) {
      const found = await deviceWorkspaces.ofAll(deviceIds);
      return new Map(
        [...found].map(([id, workspace]) => [id, leaseOfWorkspace(workspace.workspaceId)]),
      );
    },
    isOwn: (lease) => leases.held(lease as LeaseName) !== undefined,
    owners() {
      const owners = leases.owners();
      if (owners !== read) known = ofWorkspaces(owners);
      read = owners;
      return known;
    },
    refresh: leases.refresh,
  };
}

function ofWorkspaces(owners: ReturnType<Leases['owners']>): ReadonlyMap<string, NodeAddress> {
  const known = new Map<string, NodeAddress>();
  for (const lease of workspaceLeases) {
    const owner = owners.get(lease);
    if (owner !== undefined) known.set(lease, owner.node);
  }
  return known;
}

// Connects uplinks with the owners of their devices: those of this node are taken here, others are sent.

type TakeUplink = (uplink: Uplink) => Promise<KeptSamples | undefined>;

/** Without other nodes, the work itself. */
export function createDeviceLeaseGuard({ ownership }: Parts) {
  return <T>(workspaceId: string, work: () => Promise<T>): Promise<T> => {
    if (ownership === undefined) return work();
    return withDeviceLease(ownership.heldFor, workspaceId, work);
  };
}

/** Takes uplinks of own devices here, and sends others to the owner in the order of their device. */
export async function uplinksOfAll({ messages }: Parts, takeOwn: TakeUplink): Promise<TakeUplink> {
  if (messages === undefined) return takeOwn;
  const { sendUplink } = await import('../cluster/remote-uplinks.ts');
  return async (uplink) => {
    if (messages.beginsHere(uplink.device.workspaceId)) return takeOwn(uplink);
    return sendUplink(uplink, messages, takeOwn);
  };
}

/** Takes uplinks of own devices that arrived at other nodes. */
export async function answerUplinks(
  { messages, directory }: Parts,
  { takeOwnUplink }: { readonly takeOwnUplink: TakeUplink },
  duplicates: DuplicateFilter,
): Promise<void> {
  if (messages === undefined) return;
  const { uplinkMessage, uplinkReceiver } = await import('../cluster/remote-uplinks.ts');
  const findRoute = (deviceId: string) => directory.byDevice(deviceId);
  messages.handle(uplinkMessage, uplinkReceiver({ findRoute, takeOwnUplink, duplicates }));
}
