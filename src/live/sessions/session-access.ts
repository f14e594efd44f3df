// What a session asks of records and other nodes: which devices and workspaces its credential may follow.
import type { Principal } from '../../model/principal.ts';
import type { WorkspaceGrant } from './workspace-fan-out.ts';

/** Devices whose readers may have changed. */
export interface AccessChanges {
  /** One more with every device that changed. */
  readonly changes: () => number;
  /** Ends the subscriptions of these devices that must end. */
  readonly check: (assetIds: readonly string[]) => void;
}

/**
 * Those of the given service device ids that exist and whose data the principal may read. `isOver`
 * says that nobody waits for the answer any more; what was found until then is the answer.
 */
export type FindAssets = (
  principal: Principal,
  assetIds: readonly string[],
  isOver: () => boolean,
) => Promise<ReadonlySet<string>>;

/** Readable devices that have the tag now; undefined when the tag is unknown or forbidden. */
export type AssetsOfTag = (
  principal: Principal,
  tagId: string,
) => Promise<readonly string[] | undefined>;

/** Devices at the place and below it now; undefined when the place is unknown or forbidden. */
export type AssetsOfPlace = (
  principal: Principal,
  placeId: string,
) => Promise<{ readonly workspaceId: string; readonly assetIds: readonly string[] } | undefined>;

/** What the principal may follow in the workspace; undefined if it is unknown or forbidden. */
export type Followable = (
  principal: Principal,
  workspaceId: string,
) => Promise<WorkspaceGrant | undefined>;

/**
 * Resolves when the other nodes send samples of the devices to this one, and of the workspaces that
 * are open. The devices must be subscribed to before the function is called that it resolves with.
 */
export type FollowDevices = (assetIds: readonly string[]) => Promise<() => void>;
