// How many records of a kind an organization has; triggers keep the counts (migration 60).
import type { RecordsDb } from '../records.ts';

export type CountedRecord = 'devices' | 'rules';

/** One look at one row, however many there are. */
export async function recordCount(
  db: RecordsDb,
  organizationId: string,
  what: CountedRecord,
): Promise<number> {
  const row = await db
    .selectFrom('organizationCounts')
    .select('count')
    .where('organizationId', '=', organizationId)
    .where('what', '=', what)
    .executeTakeFirst();
  return row?.count ?? 0;
}
