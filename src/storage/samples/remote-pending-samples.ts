// Open elsewhere: samples that nodes have in their journals and not yet in the store that all nodes share.
import type { EpochMs } from '../../model/instant.ts';
import type { RemovedRange } from '../../model/sample-changes.ts';
import type { Sample } from '../../model/sample.ts';

/** Which open samples a read needs. */
export interface OpenRange {
  readonly deviceIds: readonly string[];
  /** All topics when absent. */
  readonly topics?: readonly string[] | undefined;
  /** Inclusive. */
  readonly from?: EpochMs | undefined;
  /** Exclusive. */
  readonly to?: EpochMs | undefined;
}

/** A sample with its place in the journal of its node. */
export interface OpenSample extends Sample {
  readonly storedAt: EpochMs;
  /** Of its entry. */
  readonly position: number;
  /** Among the samples of its entry. */
  readonly index: number;
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
}

/** Open samples of one journal, of one moment. */
export interface OpenOfJournal {
  readonly journal: number;
  /** Everything before this position is in the shared store; what is behind is in `samples`. */
  readonly shipped: number;
  readonly samples: readonly OpenSample[];
  /** What the node has removed of the devices and the shared store still has. */
  readonly removed: readonly RemovedOfDevice[];
}

/** Rows of the journal before the position count no more, and those of other journals that were stored until then. */
export interface RemovalOfJournal extends RemovedRange {
  readonly journal: number;
  readonly position: number;
  readonly storedAt: EpochMs;
}

type RemovedOfDevice = readonly [deviceId: string, removals: readonly RemovalOfJournal[]];

/**
 * The open samples of other nodes that a read must merge; empty when this node has all. Throws
 * Problem `nodeUnreachable` or `deviceWithoutOwner` rather than leaving samples of a device out.
 */
type ReadElsewhere = (range: OpenRange) => Promise<readonly OpenOfJournal[]>;

/** Samples of one journal by workspace, with those that are not shipped. */
export interface UsageOfJournal {
  readonly journal: number;
  readonly samples: readonly (readonly [workspaceId: string, samples: number])[];
}

/** What a store asks the other nodes. */
export interface Elsewhere {
  readonly read: ReadElsewhere;
  /** Of all other nodes. Throws Problem `nodeUnreachable`. */
  readonly usage: () => Promise<readonly UsageOfJournal[]>;
  /**
   * Another number when another node may have shipped samples of devices that this node has now. It
   * is noticed a moment later when a node that was away returns.
   */
  readonly changes: () => number;
}

/** What a node has for the ranges of another one. */
export interface OpenHere {
  readonly journal: number;
  readonly shipped: number;
  /** See `OpenOfJournal.removed`. */
  readonly removed: readonly RemovedOfDevice[];
  /** Whether everything that was stored or removed before devices moved away is shipped or gone. */
  readonly isClean: boolean;
  /** In the order of positions and indexes. */
  samples(): Iterable<OpenSample>;
}
