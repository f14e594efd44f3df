// Follower positions: the progress of each follower of this node's journal, so that a restart continues there.
import { nameOfNode, nodeOf, rowsOfNode } from '../node-rows.ts';
import type { RecordsDb } from '../records.ts';

/** The position saved last; undefined for a follower that is new. */
export async function findFollowerPosition(
  db: RecordsDb,
  follower: string,
): Promise<number | undefined> {
  const query = db
    .selectFrom('followerPositions')
    .select('position')
    .where('follower', '=', nameOfNode(nodeOf(db), follower));
  const row = await query.executeTakeFirst();
  return row && Number(row.position);
}

export async function saveFollowerPosition(
  db: RecordsDb,
  follower: string,
  position: number,
): Promise<void> {
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
export async function adoptFollowerPositions(
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
