// Lease table: what nodes do to the leases that they share, each call in one atomic step.
import type { NodeAddress } from '../../model/node-messages.ts';
import type { LeaseName } from './leases.ts';

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
