// Connects reads with the open samples of other nodes: asks their owners, and answers what others ask.
import { setTimeout as wait } from 'node:timers/promises';
import {
  type LeaseName,
  leaseOfDevice,
  type Leases,
  partitionLeases,
} from '../cluster/leases/leases.ts';
import { type CallHandlers, type Nodes, NodeUnreachable } from '../cluster/nodes/nodes.ts';
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
import type { Parts } from './platform-parts.ts';

interface ReadsElsewhere {
  /** See `OpenElsewhere`. */
  readonly gained: () => void;
  /** What other nodes can ask. */
  readonly handlers: CallHandlers;
}

/** From now on, reads of this node merge what the others have. */
export function readElsewhere(
  { sharedSamples }: Parts,
  leases: Leases,
  nodes: Nodes,
): ReadsElsewhere {
  if (sharedSamples === undefined) return { gained: () => undefined, handlers: new Map() };
  const owners = ownersBy(leases);
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

function ownersBy(leases: Leases): DeviceOwners {
  let read: ReturnType<Leases['owners']> | undefined;
  let known: ReadonlyMap<string, NodeAddress> = new Map();
  return {
    leaseOf: leaseOfDevice,
    isOwn: (lease) => leases.held(lease as LeaseName) !== undefined,
    owners() {
      const owners = leases.owners();
      if (owners !== read) known = ofDevices(owners);
      read = owners;
      return known;
    },
    refresh: leases.refresh,
  };
}

function ofDevices(owners: ReturnType<Leases['owners']>): ReadonlyMap<string, NodeAddress> {
  const known = new Map<string, NodeAddress>();
  for (const lease of partitionLeases) {
    const owner = owners.get(lease);
    if (owner !== undefined) known.set(lease, owner.node);
  }
  return known;
}
