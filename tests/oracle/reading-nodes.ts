// Reading nodes: several nodes of one process on one ClickHouse, between which devices are moved by hand.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { leaseOfWorkspace, workspaceLeases } from '../../src/cluster/leases/leases.ts';
import { type Carry, createNodeSwitch } from '../../src/cluster/nodes/in-process-nodes.ts';
import { NodeUnreachable } from '../../src/cluster/nodes/nodes.ts';
import {
  createUsageElsewhere,
  nodeUnreachable,
  OpenElsewhere,
  openSamplesCall,
  openSamplesReceiver,
  usageCall,
  usageReceiver,
} from '../../src/cluster/remote-pending-samples.ts';
import type { NodeAddress } from '../../src/model/node-messages.ts';
import {
  openClickHouseSamples,
  type TestClickHouseSamples,
} from '../../src/storage/samples/clickhouse/testing-clickhouse.ts';

export interface ReadingNode {
  readonly address: NodeAddress;
  samples(): TestClickHouseSamples;
  /** Reads the owners again. */
  refresh(): Promise<void>;
  /** See `OpenElsewhere`. */
  gained(): void;
  /** Stops the node, which keeps its devices, and starts it on the same folder. */
  reopen(): Promise<void>;
  /** Whether others reach it. */
  setReachable(isReachable: boolean): void;
}

export interface ReadingNodes {
  readonly nodes: readonly ReadingNode[];
  /** Who has the device; undefined while it moves. */
  ownerOf(deviceId: string): ReadingNode | undefined;
  /** Gives the parts to another node; `ship` as a node does that leaves in order. */
  move(leases: readonly string[], to: ReadingNode, ship: boolean): Promise<void>;
  close(): Promise<void>;
}

export interface ReadingNodesOptions {
  readonly directories: readonly string[];
  readonly url: string;
  readonly now: () => number;
  readonly carry?: Carry;
}

/** Each node knows the owners as they were when it read them last. */
export async function openReadingNodes(options: ReadingNodesOptions): Promise<ReadingNodes> {
  const net = createNodeSwitch(options.carry);
  const owners = new Map<string, ReadingNode | undefined>();
  const nodes: ReadingNode[] = [];
  for (const [place, directory] of options.directories.entries())
    nodes.push(await openNode(`node-${place}`, directory, { options, net, owners }));
  for (const [place, lease] of workspaceLeases.entries())
    owners.set(lease, nodes[place % nodes.length]);
  for (const node of nodes) await node.refresh();
  return {
    nodes,
    ownerOf: (deviceId) => owners.get(leaseOfDevice(deviceId)),
    async move(leases, to, ship) {
      const givers = new Set(leases.map((lease) => owners.get(lease)));
      for (const lease of leases) owners.set(lease, undefined);
      for (const giver of givers) {
        giver?.samples().store.devicesMoved();
        if (ship) await giver?.samples().store.flush();
      }
      to.gained();
      const moved = new Set(leases);
      to.samples().store.devicesMoved((deviceId) => moved.has(leaseOfDevice(deviceId)));
      for (const lease of leases) owners.set(lease, to);
    },
    async close() {
      for (const node of nodes) await node.samples().close();
    },
  };
}

interface NodeParts {
  readonly options: ReadingNodesOptions;
  readonly net: ReturnType<typeof createNodeSwitch>;
  readonly owners: ReadonlyMap<string, ReadingNode | undefined>;
}

/** Each device of the test is of a workspace of its own. */
export const leaseOfDevice = leaseOfWorkspace;

const leasesOf = async (deviceIds: Iterable<string>) =>
  new Map([...deviceIds].map((id) => [id, leaseOfDevice(id)] as const));

async function openNode(
  id: string,
  directory: string,
  { options, net, owners }: NodeParts,
): Promise<ReadingNode> {
  const { url, now } = options;
  const address = { id, url: `http://${id}` };
  const others = net.nodesOf(id);
  let known: ReadonlyMap<string, NodeAddress> = new Map();
  const holds = (lease: string): boolean => owners.get(lease)?.address.id === id;
  const refresh = async (): Promise<void> => {
    const held = [...owners].flatMap(([lease, node]) =>
      node === undefined ? [] : [[lease, node.address] as const],
    );
    known = new Map(held);
  };
  const call = (to: NodeAddress, name: string, request: unknown) =>
    others.call(to, name, request).catch((error: unknown) => {
      if (!(error instanceof NodeUnreachable)) throw error;
      if (error.wasSent) throw nodeUnreachable(to);
      return undefined;
    });
  const { read, gained, formerOwners, changes } = new OpenElsewhere({
    owners: { leasesOf, isOwn: holds, owners: () => known, refresh },
    self: id,
    now: () => performance.now(),
    wait: () => nextTurn(),
    call,
  });
  const owning = () => [...new Set(known.values())].filter((node) => node.id !== id);
  const elsewhere = { read, changes, usage: createUsageElsewhere(owning, call) };
  const open = () => openClickHouseSamples({ directory, url, now, elsewhere });
  let samples = await open();
  let disconnect: (() => void) | undefined;
  function setReachable(isReachable: boolean): void {
    disconnect?.();
    if (!isReachable) return;
    const receive = openSamplesReceiver({
      openHere: (given) => samples.store.openHere(given),
      formerOwners,
      holds,
    });
    disconnect = net.connect(id, {
      handlers: new Map<string, (request: unknown) => Promise<unknown>>([
        [openSamplesCall, receive],
        [usageCall, usageReceiver(() => samples.store.usageHere())],
      ]),
      holds,
      serve: () => Promise.reject(new Error('Nothing is forwarded')),
    });
  }
  setReachable(true);
  return {
    address,
    refresh,
    gained,
    samples: () => samples,
    setReachable,
    async reopen() {
      await samples.close();
      samples = await open();
    },
  };
}
