// Preferences: what a user stores for the console, visible only to the user (contract 37).
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { Records } from '../records/records.ts';
import { findPreferences, savePreferences } from '../records/rows/user-preferences.ts';

type User = Pick<Principal, 'id'>;

/** Empty for a user who has stored nothing. */
export function readPreferences({ db }: Pick<Records, 'db'>, { id }: User): Promise<JsonObject> {
  return findPreferences(db, id);
}

/** Replaces all of them; returns what is stored now. */
export async function replacePreferences(
  { db, now }: Pick<Records, 'db' | 'now'>,
  { id }: User,
  preferences: JsonObject,
): Promise<JsonObject> {
  await savePreferences(db, { userId: id, preferences }, now());
  return preferences;
}
