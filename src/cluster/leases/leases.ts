// Leases: the port that decides which node does what, in which epoch. One process holds all, nodes share theirs by a table.
import { type NodeAddress, partitionCount, partitionOf } from '../../model/node-messages.ts';

export type LeaseName =
  | `devices/${number}`
  | `rules/${number}`
  | `deliveries/${number}`
  | `operations/${number}`
  | 'maintenance'
  | 'demo';

/** The lease of each partition of devices, by its number. */
export const partitionLeases: readonly LeaseName[] = Array.from(
  { length: partitionCount },
  (_, partition) => `devices/${partition}` as const,
);

/** The lease of the partition of a device. */
export function leaseOfDevice(deviceId: string): LeaseName {
  return partitionLeases[partitionOf(deviceId)] ?? 'devices/0';
}

/** Whether it is the lease of a partition of devices. */
export const isOfDevices = ({ name }: Pick<Lease, 'name'>): boolean => name.startsWith('devices/');

export interface Lease {
  readonly name: LeaseName;
  /** Higher than that of every earlier holder: what carries a lower one is outdated. */
  readonly epoch: number;
  /**
   * Whether this node still holds the lease, by its own clock. Also true while the node finishes
   * what it accepted before the lease moves.
   */
  isValid(): boolean;
}

export interface Owner {
  readonly node: NodeAddress;
  readonly epoch: number;
}

/**
 * Called with leases that this node will hold once the promise is settled, and with those that it
 * gave to another node or lost. A lease moves when the promise is settled, or after a limit.
 */
export type LeasesChanged = (gained: readonly Lease[], lost: readonly Lease[]) => Promise<void>;

export interface Leases {
  readonly node: NodeAddress;
  /** The lease when this node holds it and accepts work for it. Asks no database. */
  held(name: LeaseName): Lease | undefined;
  /** Adds leases that this node takes a share of. */
  want(names: readonly LeaseName[]): void;
  onChange(listener: LeasesChanged): void;
  /** Who holds what, as it was read last; a lease without an owner is missing. */
  owners(): ReadonlyMap<LeaseName, Owner>;
  /**
   * Reads owners and leases again, such as after a node answered that it holds one no longer. Without
   * the table they stay as they were. Rejects with `recordsUnreachable` while this node is cut off.
   */
  refresh(): Promise<void>;
  /** Whether the table cannot be used for so long that this node holds nothing any longer. */
  isCutOff(): boolean;
  /** Gives all leases to the other nodes and takes no more. Resolves when this node holds none. */
  drain(): Promise<void>;
  /** Releases what is still held. */
  close(): Promise<void>;
}

// Other nodes: those that hold a lease, as the leases were read last.

export function otherNodes(leases: Pick<Leases, 'node' | 'owners'>): readonly NodeAddress[] {
  const byId = new Map([...leases.owners().values()].map(({ node }) => [node.id, node]));
  byId.delete(leases.node.id);
  return [...byId.values()];
}

// Lease epochs: in which epoch a node holds each lease, or held it last.

// Lease epochs: in which epoch a node holds each lease, or held it last.
/** `before` are those that an earlier process of the node held, and no other node since. */
export class LeaseEpochs {
  readonly #epochs = new Map<LeaseName, number>();

  constructor(before: readonly Pick<Lease, 'name' | 'epoch'>[]) {
    this.add(before);
  }

  /** Of the lease of the device; 0 for one that the node never held. */
  readonly of = (deviceId: string): number => this.#epochs.get(leaseOfDevice(deviceId)) ?? 0;

  add(gained: readonly Pick<Lease, 'name' | 'epoch'>[]): void {
    for (const { name, epoch } of gained) this.#epochs.set(name, epoch);
  }
}
