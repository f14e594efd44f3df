// Preferences of users in the records store: one JSON object for each user.
import type { EpochMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { fromJsonText, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

/** Empty for a user who has stored nothing. */
export async function findPreferences(db: RecordsDb, userId: string): Promise<JsonObject> {
  const query = db.selectFrom('userPreferences').select('content').where('userId', '=', userId);
  const row = await query.executeTakeFirst();
  if (row === undefined) return {};
  return fromJsonText<JsonObject>(row.content);
}

export async function savePreferences(
  db: RecordsDb,
  { userId, preferences }: { readonly userId: string; readonly preferences: JsonObject },
  now: EpochMs,
): Promise<void> {
  const content = toJsonText(preferences);
  await db
    .insertInto('userPreferences')
    .values({ userId, content, updated: now })
    .onConflict((conflict) => conflict.column('userId').doUpdateSet({ content, updated: now }))
    .execute();
}
