// Leases: the port that decides which node does what, in which epoch. One process holds all, nodes share theirs by a table.
import { crc32 } from 'node:zlib';
import type { NodeAddress } from '../../model/node-messages.ts';

export type LeaseName =
  | `workspaces/${number}`
  | `deliveries/${number}`
  | `operations/${number}`
  | 'maintenance'
  | 'demo';

/** Never changed: rows contain the numbers of partitions of workspaces. */
const workspacePartitions = 64;

/** The lease of each partition of workspaces, by its number. */
export const workspaceLeases: readonly LeaseName[] = Array.from(
  { length: workspacePartitions },
  (_, partition) => `workspaces/${partition}` as const,
);

/** Its holder owns the devices of the workspace, evaluates its rules, and serves its MQTT clients. */
export function leaseOfWorkspace(workspaceId: string): LeaseName {
  return workspaceLeases[crc32(workspaceId) % workspacePartitions] ?? 'workspaces/0';
}

export const isOfWorkspaces = ({ name }: { readonly name: LeaseName }): boolean =>
  name.startsWith('workspaces/');

export interface Lease {
  readonly name: LeaseName;
  /** Higher than that of every earlier holder of any lease: what carries a lower one is outdated. */
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

export function otherNodes(leases: Leases): readonly NodeAddress[] {
  const byId = new Map([...leases.owners().values()].map(({ node }) => [node.id, node]));
  byId.delete(leases.node.id);
  return [...byId.values()];
}

// Lease epochs: in which epoch a node holds each lease, or held it last.

/** `before` are those that an earlier process of the node held, and no other node since. */
export class LeaseEpochs {
  readonly #epochs = new Map<LeaseName, number>();

  constructor(before: readonly { readonly name: LeaseName; readonly epoch: number }[]) {
    this.add(before);
  }

  /** Of the lease of the workspace; 0 for one that the node never held. */
  readonly of = (workspaceId: string): number =>
    this.#epochs.get(leaseOfWorkspace(workspaceId)) ?? 0;

  add(gained: readonly { readonly name: LeaseName; readonly epoch: number }[]): void {
    for (const { name, epoch } of gained) this.#epochs.set(name, epoch);
  }
}

// Lease table: what nodes do to the leases that they share, each call in one atomic step.

export interface LeaseRow {
  readonly name: LeaseName;
  readonly epoch: number;
}

export interface OwnerRow extends LeaseRow {
  /** Of the holder; undefined before the first one. */
  readonly node: NodeAddress | undefined;
  /** Whether the time of the holder is not over, by the clock of the table. */
  readonly isLive: boolean;
}

export interface LeaseView {
  readonly rows: readonly OwnerRow[];
  /** Nodes that take leases: alive and not draining, by id. */
  readonly nodes: readonly string[];
}

/**
 * The table through one session. Every function rejects when the session is lost; the outcome is
 * then unknown. What a lost session began changes nothing after `register` of the next one.
 */
export interface LeaseTable {
  /**
   * Says that the node is alive; one that is draining gets no leases from others. Statements of its
   * earlier sessions have no effect from then on.
   */
  register(node: NodeAddress, isDraining: boolean): Promise<void>;
  /** Adds the leases that are missing. */
  add(names: readonly LeaseName[]): Promise<void>;
  /**
   * Extends all leases of the node and returns them. Undefined when another process has registered
   * with the same id.
   */
  renew(isDraining: boolean): Promise<readonly LeaseRow[] | undefined>;
  /** Takes those whose time is over, `countMax` at most, and skips what another node takes now. */
  take(names: readonly LeaseName[], countMax: number): Promise<readonly LeaseRow[]>;
  /** Makes another node the holder, with the next epoch. Only what this node holds is moved. */
  move(rows: readonly LeaseRow[], to: string): Promise<void>;
  /** Ends the time of all leases of the node, so that others can take them immediately. */
  release(): Promise<void>;
  view(): Promise<LeaseView>;
  close(): Promise<void>;
}
