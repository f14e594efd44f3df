// Preferences: what a user or a credential stores for a console, visible only to its owner (contract 37).
import type { JsonObject } from '../model/json.ts';
import type { Principal } from '../model/principal.ts';
import type { Records } from '../storage/records/records.ts';
import { findPreferences, savePreferences } from '../storage/records/rows/views.ts';

type Owner = Pick<Principal, 'id'>;

/** Empty for an owner who has stored nothing. */
export function readPreferences({ db }: Pick<Records, 'db'>, { id }: Owner): Promise<JsonObject> {
  return findPreferences(db, id);
}

/** Replaces all of them; returns what is stored now. */
export async function replacePreferences(
  { db, now }: Pick<Records, 'db' | 'now'>,
  { id }: Owner,
  preferences: JsonObject,
): Promise<JsonObject> {
  await savePreferences(db, { ownerId: id, preferences }, now());
  return preferences;
}
