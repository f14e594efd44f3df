// Finds where records live for the edge, which asks before it authorizes.
import type { Place } from '../model/resource-ref.ts';
import { problem } from '../model/problem.ts';
import type { Records } from '../records/records.ts';
import { findPlace, nameOfKind, type PlacedKind } from '../records/rows/resource-refs.ts';

/** What every function of the inventory works on; the edge hands it over without knowing more of it. */
export type Inventory = Records;

/** Throws 404 when there is no such record. */
export async function placeOf(records: Records, kind: PlacedKind, id: string): Promise<Place> {
  const place = await findPlace(records.db, kind, id);
  if (place === undefined) throw problem('notFound', { what: nameOfKind(kind), id });
  return place;
}

/** The place of a record that will be made in the workspace. Throws 404 when there is no such workspace. */
export function placeInWorkspace(records: Records, workspaceId: string): Promise<Place> {
  return placeOf(records, 'workspace', workspaceId);
}
