// Organization counts: number of records of a kind; triggers update the counts (migrations 60 and 141).
import type { RecordsDb } from '../records.ts';

export type CountedRecord = 'devices' | 'rules' | 'views' | 'openAlarms';

/** Reads one row, regardless of the number of records. */
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
