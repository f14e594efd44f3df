// Follower positions: the progress of each follower of the journal, so that a restart continues there.
import type { RecordsDb } from '../records.ts';

/** The position saved last; undefined for a follower that is new. */
export async function findFollowerPosition(
  db: RecordsDb,
  follower: string,
): Promise<number | undefined> {
  const query = db
    .selectFrom('followerPositions')
    .select('position')
    .where('follower', '=', follower);
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
    .values({ follower, position })
    .onConflict((conflict) => conflict.column('follower').doUpdateSet({ position }))
    .execute();
}
