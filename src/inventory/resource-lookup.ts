// Resource lookup: organization and workspace of a record, which the HTTP layer needs to authorize a request.
import type { Place } from '../model/record.ts';
import { problem } from '../model/problem.ts';
import type { Records } from '../storage/records/records.ts';
import { findPlace, nameOfKind, type PlacedKind } from '../storage/records/rows/resource-refs.ts';

/** The records that every function of the inventory needs. The HTTP layer only passes them on. */
export type Inventory = Records;

/** Throws 404 for an unknown record. */
export async function placeOf(records: Records, kind: PlacedKind, id: string): Promise<Place> {
  const place = await findPlace(records.db, kind, id);
  if (place === undefined) throw problem('notFound', { what: nameOfKind(kind), id });
  return place;
}

/** The place of a new record of the workspace. Throws 404 for an unknown workspace. */
export function placeInWorkspace(records: Records, workspaceId: string): Promise<Place> {
  return placeOf(records, 'workspace', workspaceId);
}
