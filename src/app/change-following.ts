// Connects this node with others that share the records: it follows the changes that they make.
import { ChangeFollowing, changeFollowing } from '../cluster/change-following.ts';
import type { ChangeFollower } from '../model/record.ts';
import type { OpenRecords } from '../storage/records/records.ts';
import { recordChangeRows } from '../storage/records/rows/shared-records.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import type { Telemetry } from '../telemetry/events.ts';

interface NodeParts {
  /** Its id. */
  readonly node: string;
  readonly records: OpenRecords;
  readonly telemetry: Telemetry;
  readonly follower: ChangeFollower;
}

/** This process as one of several nodes. */
export interface ComposedNode extends Pick<ChangeFollowing, 'readNow'> {
  readonly id: string;
  /** Removes changes that every node has read. */
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Follows the changes of other nodes from now on. Call before anything of the records is kept in
 * memory.
 */
export async function composeNode(parts: NodeParts): Promise<ComposedNode> {
  const { node, records } = parts;
  const { db } = records;
  const from = await recordChangeRows.newest(db);
  const following = followChanges(parts, from);
  return {
    id: node,
    readNow: following.readNow,
    runMaintenance: () => recordChangeRows.dropOld(db, changeFollowing.keptMs),
    close: () => following.close(),
  };
}

function followChanges(
  { node, records, telemetry, follower }: NodeParts,
  from: number,
): ChangeFollowing {
  const { db } = records;
  const following = new ChangeFollowing({
    node,
    from,
    read: (last, max) => recordChangeRows.behind(db, last, max),
    newest: () => recordChangeRows.newest(db),
    follower,
    listsChanged: records.listsChanged,
    failed: (error) => telemetry.backgroundFailed('following changes of other nodes', error),
    clock: () => performance.now(),
    setRepeatingTimer,
  });
  telemetry.gauge(
    'record_change_lag_seconds',
    'Age of the oldest record change from another node that this node has not applied.',
    () => following.behindMs() / 1_000,
  );
  return following;
}
