// Positions in the journal of its followers and of rules, so that a restart continues there.
import { nameOfNode, nodeOf, rowsOfNode } from './shared-records.ts';
import type { RecordsDb } from '../records.ts';

class FollowerPositionRows {
  /** The position saved last; undefined for a follower that is new. */
  async find(db: RecordsDb, follower: string): Promise<number | undefined> {
    const query = db
      .selectFrom('followerPositions')
      .select('position')
      .where('follower', '=', nameOfNode(nodeOf(db), follower));
    const row = await query.executeTakeFirst();
    return row && Number(row.position);
  }

  async save(db: RecordsDb, follower: string, position: number): Promise<void> {
    await db
      .insertInto('followerPositions')
      .values({ follower: nameOfNode(nodeOf(db), follower), position })
      .onConflict((conflict) => conflict.column('follower').doUpdateSet({ position }))
      .execute();
  }

  /**
   * Gives the node the positions of the same data folder from when its platform was the only one, or the
   * other way around, when it has none.
   */
  async adopt(
    db: RecordsDb,
    { from, to }: { readonly from: string; readonly to: string },
  ): Promise<void> {
    const rows = await db.selectFrom('followerPositions').selectAll().execute();
    const saved = rows.map(({ follower, position }) => [follower, Number(position)] as const);
    if (rowsOfNode(to, saved).length > 0) return;
    for (const [name, position] of rowsOfNode(from, saved)) {
      await db
        .insertInto('followerPositions')
        .values({ follower: nameOfNode(to, name), position })
        .execute();
      await db
        .deleteFrom('followerPositions')
        .where('follower', '=', nameOfNode(from, name))
        .execute();
    }
  }
}

export const followerPositionRows = new FollowerPositionRows();

// Recorded positions: the journal's end according to the positions that followers saved in the records.

/**
 * The follower whose position is that of the last entry it has seen; all others save the one that
 * comes next.
 */
export const rulesFollower = 'rules';
/**
 * The position that is on disk for certain, whatever a power cut takes; saved every few seconds.
 */
export const durableMark = 'device-status-durable';

/** A mark without a position: the delivery log has files. */
export const deliveryLogMark = 'delivery-log';

/**
 * What the records know of the journal's end, for a journal that lost it; both 0 in new records.
 */
export interface RecordedPositions {
  /** Every entry before it was acknowledged. */
  readonly acknowledgedTo: number;
  /** Every entry before it has reached the records for good. */
  readonly followFrom: number;
  /** Whether the delivery log has files. */
  readonly hasDeliveryLog: boolean;
}

/** Reads what all followers saved, `[follower, position]`. */
export function recordedPositions(
  saved: readonly (readonly [string, number])[],
): RecordedPositions {
  const next = saved.map(([follower, position]) =>
    follower === rulesFollower ? position + 1 : position,
  );
  const followFrom = saved.find(([follower]) => follower === durableMark)?.[1] ?? 0;
  const hasDeliveryLog = saved.some(([follower]) => follower === deliveryLogMark);
  return { acknowledgedTo: Math.max(0, ...next), followFrom, hasDeliveryLog };
}

// Rule positions: how far rules have evaluated the journal, also for workspaces that are behind the others.

export interface RulePositions {
  /** The last evaluated entry of every workspace that is not behind; -1 without any. */
  readonly evaluated: number;
  /** The last evaluated entry of each workspace that is behind, by its id. */
  readonly behind: ReadonlyMap<string, number>;
}

const evaluatedRow = `${rulesFollower} evaluated`;
const behindRow = `${rulesFollower} of `;
/** The rows besides that of the follower are between these. */
const [rowsFrom, rowsTo] = [`${rulesFollower} `, `${rulesFollower}!`];

/** Every entry up to this one was evaluated. */
export function evaluatedByAll({ evaluated, behind }: RulePositions): number {
  return Math.min(evaluated, ...behind.values());
}

/** Every entry before the position was evaluated too, as far as it had no effect that is saved. */
export function positionsAfter({ evaluated, behind }: RulePositions, next: number): RulePositions {
  const done = [...behind].map(([id, position]): [string, number] => [
    id,
    Math.max(position, next - 1),
  ]);
  return { evaluated: Math.max(evaluated, next - 1), behind: new Map(done) };
}

class RulePositionRows {
  /** What was saved last. */
  async find(db: RecordsDb): Promise<RulePositions> {
    const node = nodeOf(db);
    const rows = await db
      .selectFrom('followerPositions')
      .selectAll()
      .where('follower', '>=', nameOfNode(node, rulesFollower))
      .where('follower', '<', nameOfNode(node, rowsTo))
      .execute();
    const saved = new Map(
      rowsOfNode(
        node,
        rows.map(({ follower, position }) => [follower, Number(position)]),
      ),
    );
    const byAll = saved.get(rulesFollower);
    if (byAll === undefined) return { evaluated: -1, behind: new Map() };
    const behind = [...saved].flatMap(([follower, position]): [string, number][] =>
      follower.startsWith(behindRow) ? [[follower.slice(behindRow.length), position]] : [],
    );
    return { evaluated: saved.get(evaluatedRow) ?? byAll, behind: new Map(behind) };
  }

  /** Within the transaction that writes the effects. */
  async save(step: RecordsDb, positions: RulePositions): Promise<void> {
    const { evaluated, behind } = positions;
    const node = nodeOf(step);
    await followerPositionRows.save(step, rulesFollower, evaluatedByAll(positions));
    await step
      .deleteFrom('followerPositions')
      .where('follower', '>=', nameOfNode(node, rowsFrom))
      .where('follower', '<', nameOfNode(node, rowsTo))
      .execute();
    if (behind.size === 0) return;
    const rows = [...behind].map(([id, position]) => ({ name: behindRow + id, position }));
    await step
      .insertInto('followerPositions')
      .values(
        [{ name: evaluatedRow, position: evaluated }, ...rows].map(({ name, position }) => ({
          follower: nameOfNode(node, name),
          position,
        })),
      )
      .execute();
  }
}

export const rulePositionRows = new RulePositionRows();
