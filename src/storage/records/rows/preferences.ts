// Preferences in the records store: one JSON object for each user, API key or OAuth client.
import type { EpochMs } from '../../../model/instant.ts';
import type { JsonObject } from '../../../model/json.ts';
import { fromJsonText, toJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

/** Empty for an owner who has stored nothing. */
export async function findPreferences(db: RecordsDb, ownerId: string): Promise<JsonObject> {
  const query = db.selectFrom('preferences').select('content').where('ownerId', '=', ownerId);
  const row = await query.executeTakeFirst();
  if (row === undefined) return {};
  return fromJsonText<JsonObject>(row.content);
}

export async function savePreferences(
  db: RecordsDb,
  { ownerId, preferences }: { readonly ownerId: string; readonly preferences: JsonObject },
  now: EpochMs,
): Promise<void> {
  const content = toJsonText(preferences);
  await db
    .insertInto('preferences')
    .values({ ownerId, content, updated: now })
    .onConflict((conflict) => conflict.column('ownerId').doUpdateSet({ content, updated: now }))
    .execute();
}

/** When their owner is deleted. */
export async function removePreferencesOf(db: RecordsDb, ownerId: string): Promise<void> {
  await db.deleteFrom('preferences').where('ownerId', '=', ownerId).execute();
}
