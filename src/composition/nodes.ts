// Connects the nodes of a cluster: leases of devices, the internal port, and the router of requests.
import type { RequestListener, Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import type { ClusterConfig } from '../config.ts';
import { nodeIdOf } from '../data-folder/node-id.ts';
import { createCaptureSenders } from '../flows/capture-senders.ts';
import type { DeviceOwnership } from '../flows/owned-devices.ts';
import { sendUplink, uplinkCall, uplinkReceiver } from '../flows/remote-uplinks.ts';
import type { Route } from '../http/edge/route.ts';
import { refusalWith } from '../http/router/refusal.ts';
import { deviceFinder } from '../http/router/routed-requests.ts';
import { createRouter } from '../http/router/router.ts';
import { leaseOfDevice, type LeaseName, type Leases, partitionLeases } from '../leases/leases.ts';
import { postgresLeaseTable } from '../leases/postgres/postgres-lease-table.ts';
import { createSharedLeases, type SharedLeases } from '../leases/shared-leases.ts';
import { createHttpNodes } from '../nodes/http/http-nodes.ts';
import {
  createInternalPort,
  type InternalPort,
  type InternalPortParts,
} from '../nodes/http/internal-port.ts';
import type { Nodes } from '../nodes/nodes.ts';
import { askOwner, type Ownership, type OwnerSearch } from '../nodes/owner-search.ts';
import type { Uplink } from '../model/uplink.ts';
import { openOwnSession } from '../records/postgres/own-session.ts';
import type { Closers } from '../structures/closers.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';

export interface Cluster {
  readonly ownership: DeviceOwnership;
  /**
   * Takes a share of the devices, and serves them to other nodes. The server does not listen yet;
   * from now on it forwards requests for other devices.
   */
  join(served: ServedNode): Promise<void>;
}

export interface ServedNode {
  readonly server: Server;
  readonly routes: readonly Route[];
  /** Writes the status of devices that move, and drops what is known of them. */
  /** Takes an uplink of a device of this node. */
  readonly takeOwnUplink: (uplink: Uplink) => Promise<unknown>;
  readonly dropDevices: (isDropped: (deviceId: string) => boolean) => Promise<void>;
}

export async function openCluster(
  parts: Parts,
  cluster: ClusterConfig,
  closers: Closers,
): Promise<Cluster> {
  const id = await nodeIdOf(parts.config.dataDirectory);
  const nodes = createHttpNodes({ id, secret: cluster.secret, ca: cluster.tls?.ca });
  closers.push('connections to other nodes', () => nodes.close());
  const leases = leasesOf(parts, cluster, id);
  const ownershipOf = ownershipBy(leases);
  const search = searchBy(leases);
  return {
    ownership: {
      heldFor: (deviceId) => leases.held(leaseOfDevice(deviceId)),
      send: (uplink) =>
        askOwner(ownershipOf(uplink.device.id), search, (owner) =>
          sendUplink(uplink, (name, request) => nodes.call(owner, name, request)),
        ),
    },
    async join(served) {
      leases.onChange((gained, lost) => {
        const changed = new Set<LeaseName>([...gained, ...lost].map(({ name }) => name));
        return served.dropDevices((deviceId) => changed.has(leaseOfDevice(deviceId)));
      });
      leases.want(partitionLeases);
      const serve = requestListenerOf(served.server);
      const findRoute = (deviceId: string) => parts.directory.byDevice(deviceId);
      const receive = uplinkReceiver({ findRoute, handleUplink: served.takeOwnUplink });
      const handlers = new Map([[uplinkCall, receive]]);
      const internal = internalPortOf(parts, cluster, leases, { serve, handlers });
      await internal.listen({ host: cluster.host, port: Number(new URL(cluster.nodeUrl).port) });
      closers.push('the internal port', () => internal.close());
      closers.push('leases', () => leases.close());
      await leases.start();
      served.server.removeAllListeners('request');
      served.server.on('request', routerOf(parts, served.routes, { leases, nodes, serve }));
    },
  };
}

function leasesOf({ config, telemetry }: Parts, cluster: ClusterConfig, id: string): SharedLeases {
  const { leaseMs, nodeUrl: url } = cluster;
  const leases = createSharedLeases({
    node: { id, url },
    openTable: async () => {
      const session = await openOwnSession(config.recordsUrl ?? '', leaseMs / 4);
      return postgresLeaseTable(session, leaseMs);
    },
    ...{ leaseMs, now: () => performance.now(), setTimer, setRepeatingTimer },
    events: {
      failed: telemetry.backgroundFailed,
      superseded: () => telemetry.backgroundFailed('holding leases', supersededError(id)),
      changed: () => undefined,
    },
  });
  const count = () => partitionLeases.filter((name) => leases.held(name) !== undefined).length;
  telemetry.gauge('partitions_held', 'Partitions of devices that this node serves.', count);
  return leases;
}

function supersededError(id: string): Error {
  return new Error(
    `Another process runs with the node id ${id}: this one serves no devices; stop it, and give each node a data folder that is not a copy`,
  );
}

function internalPortOf(
  { telemetry }: Parts,
  { secret, tls }: ClusterConfig,
  leases: Leases,
  offered: Pick<InternalPortParts, 'serve' | 'handlers'>,
): InternalPort {
  return createInternalPort({
    ...{ secret, tls, ...offered },
    holds: (lease) => leases.held(lease as LeaseName) !== undefined,
    refused: (address) => telemetry.credentialRefused({ ...nodeRefusal, address }),
    failed: (call, error) => telemetry.backgroundFailed(`answering ${call}`, error),
  });
}

const nodeRefusal = { route: 'the internal port', reason: 'wrong CLUSTER_SECRET' };

/** What serves a request on this node. */
function requestListenerOf(server: Server): RequestListener {
  const [listener] = server.listeners('request');
  if (listener === undefined) throw new Error('The server serves nothing');
  return listener;
}

function ownershipBy(leases: Leases): (deviceId: string) => Ownership {
  return (deviceId) => {
    const lease = leaseOfDevice(deviceId);
    return {
      lease,
      isOwn: () => leases.held(lease) !== undefined,
      owner: () => leases.owners().get(lease)?.node,
    };
  };
}

function searchBy({ refresh }: Leases): OwnerSearch {
  return { refresh, now: () => performance.now(), wait: (ms) => wait(ms) };
}

function routerOf(
  { config, directory, telemetry, now }: Parts,
  routes: readonly Route[],
  { leases, nodes, serve }: { leases: Leases; nodes: Nodes; serve: RequestListener },
): RequestListener {
  const { publicUrl, trustedProxies } = config;
  return createRouter({
    findDevice: deviceFinder(routes, createCaptureSenders(directory).ofCapture),
    ownershipOf: ownershipBy(leases),
    ...searchBy(leases),
    forward: nodes.forward,
    serve,
    refuse: refusalWith({ publicUrl, trustedProxies, events: telemetry, now }),
  });
}
