// Named organization: in which organization a user of several acts, by the ids that a request contains (contract 36).
import type { RecordsDb } from '../storage/records/records.ts';
import { findPlace } from '../storage/records/rows/resource-refs.ts';

/** Ids that a request contains outside its path. */
export interface NamedIds {
  readonly organizationId: string | undefined;
  readonly workspaceIds: readonly string[];
  readonly deviceIds: readonly string[];
}

/**
 * Returns undefined when the request names no record that exists. The first that exists decides.
 */
export async function namedOrganization(
  db: RecordsDb,
  { organizationId, workspaceIds, deviceIds }: NamedIds,
): Promise<string | undefined> {
  if (organizationId !== undefined) return organizationId;
  const named = [
    ...workspaceIds.map((id) => ['workspace', id] as const),
    ...deviceIds.map((id) => ['device', id] as const),
  ];
  for (const [kind, id] of named) {
    const place = await findPlace(db, kind, id);
    if (place !== undefined) return place.organizationId ?? undefined;
  }
  return undefined;
}
