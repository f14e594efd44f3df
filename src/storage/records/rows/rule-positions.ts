// Rule positions: how far rules have evaluated the journal, also for workspaces that are behind the others.
import { nameOfNode, nodeOf, rowsOfNode } from '../node-rows.ts';
import type { RecordsDb } from '../records.ts';
import { saveFollowerPosition } from './follower-positions.ts';
import { rulesFollower } from './recorded-positions.ts';

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

/** What was saved last. */
export async function findRulePositions(db: RecordsDb): Promise<RulePositions> {
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
export async function saveRulePositions(step: RecordsDb, positions: RulePositions): Promise<void> {
  const { evaluated, behind } = positions;
  const node = nodeOf(step);
  await saveFollowerPosition(step, rulesFollower, evaluatedByAll(positions));
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
