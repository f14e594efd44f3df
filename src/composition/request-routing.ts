// Connects the router: which node a request is about, and how its owner is found.
import type { RequestListener } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import { createCaptureSenders } from '../flows/capture-senders.ts';
import type { Route } from '../http/edge/route.ts';
import { refusalWith } from '../http/router/refusal.ts';
import { deviceFinder, nodeOfPlace } from '../http/router/routed-requests.ts';
import { createRouter } from '../http/router/router.ts';
import { leaseOfDevice, type Leases } from '../leases/leases.ts';
import { otherNodes } from '../leases/other-nodes.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { Ownership, OwnerSearch } from '../nodes/owner-search.ts';
import { findSampleExport } from '../records/rows/sample-exports.ts';

/** The owner of a device, or the node of a place. */
export function ownershipBy(leases: Leases): (place: string) => Ownership {
  return (place) => {
    const node = nodeOfPlace(place);
    if (node !== undefined) return ownershipOfNode(leases, place, node);
    const lease = leaseOfDevice(place);
    return {
      lease,
      isOwn: () => leases.held(lease) !== undefined,
      owner: () => leases.owners().get(lease)?.node,
    };
  };
}

function ownershipOfNode(leases: Leases, lease: string, id: string): Ownership {
  return {
    lease,
    isOwn: () => id === leases.node.id,
    owner: () => otherNodes(leases).find((node) => node.id === id),
  };
}

/** How an unknown owner is waited for. */
export function searchBy({ refresh }: Leases): OwnerSearch {
  return { refresh, now: () => performance.now(), wait: (ms) => wait(ms) };
}

/** Forwards requests to the nodes that own what they are about. */
export function routerOf(
  { config, directory, records, telemetry, now }: Parts,
  routes: readonly Route[],
  { leases, nodes, serve }: { leases: Leases; nodes: Nodes; serve: RequestListener },
): RequestListener {
  const { publicUrl, trustedProxies } = config;
  return createRouter({
    findDevice: deviceFinder(routes, createCaptureSenders(directory).ofCapture, async (id) => {
      const found = await findSampleExport(records.db, id);
      return otherNodes(leases).find((node) => node.id === found?.node);
    }),
    ownershipOf: ownershipBy(leases),
    ...searchBy(leases),
    forward: nodes.forward,
    serve,
    refuse: refusalWith({ publicUrl, trustedProxies, events: telemetry, routes, now }),
  });
}
