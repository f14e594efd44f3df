// Second factor demands in the records store: organizations whose members must have a second factor.
import { isOneOf } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

/** Those of the organizations that demand a second factor. */
export async function organizationsDemanding(
  db: RecordsDb,
  organizationIds: readonly string[],
): Promise<Set<string>> {
  if (organizationIds.length === 0) return new Set();
  const query = db.selectFrom('secondFactorDemands').select('organizationId');
  const rows = await query.where(isOneOf('organizationId', organizationIds)).execute();
  return new Set(rows.map(({ organizationId }) => organizationId));
}

export async function demandsSecondFactor(db: RecordsDb, organizationId: string): Promise<boolean> {
  return (await organizationsDemanding(db, [organizationId])).size > 0;
}

/** Calling it twice changes nothing more. */
export async function saveSecondFactorDemand(
  db: RecordsDb,
  organizationId: string,
  required: boolean,
): Promise<void> {
  if (!required) {
    await db
      .deleteFrom('secondFactorDemands')
      .where('organizationId', '=', organizationId)
      .execute();
    return;
  }
  await db
    .insertInto('secondFactorDemands')
    .values({ organizationId })
    .onConflict((conflict) => conflict.column('organizationId').doNothing())
    .execute();
}
