// Parts of the routes of records, and how they find the resource of a request.
import type { Once } from '../../uplinks/idempotency/idempotency.ts';
import { type Inventory, placeInWorkspace, placeOf } from '../../inventory/resource-lookup.ts';
import type { Place } from '../../model/resource-ref.ts';

export interface RecordParts {
  readonly records: Inventory;
  readonly now: () => number;
  readonly once: Once;
}

export type Kind = Parameters<typeof placeOf>[1];

/** Finds the record of the path. */
export function byId({ records }: Pick<RecordParts, 'records'>, kind: Kind) {
  return ({ id }: { readonly id: string }) => placeOf(records, kind, id);
}

/** Finds the workspace of the body. */
export function byWorkspace({ records }: Pick<RecordParts, 'records'>) {
  return ({ workspaceId }: { readonly workspaceId: string }) =>
    placeInWorkspace(records, workspaceId);
}

/** The organization of the body; an unknown one is a 404 like that of another tenant. */
export function byOrganization({ organizationId }: { readonly organizationId: string }): Place {
  return { organizationId, workspaceId: null, what: 'organization', id: organizationId };
}
