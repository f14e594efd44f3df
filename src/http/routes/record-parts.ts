// Parts of the routes of records: how they find the resource of a request, and health in rows of lists (contract 37).
import { type Inventory, placeInWorkspace, placeOf } from '../../inventory/record-crud.ts';
import type { Page } from '../../model/page.ts';
import type { Place } from '../../model/record.ts';
import type { Once } from '../../uplinks/idempotency/idempotency.ts';

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

// Rows with health: the member `health` of the rows of a list, read for the whole page (contract 37).

type WithHealth<Row, Health> = Row & { readonly health?: Health | null };

/** `healthOf` is asked once for all rows of the page, and only if the query wants it. */
export async function withHealth<Row extends { readonly id: string }, Health>(
  { details }: { readonly details?: boolean | 'health' | undefined },
  page: Page<Row>,
  healthOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, Health>>,
): Promise<Page<WithHealth<Row, Health>>> {
  if (details !== 'health') return page;
  const health = await healthOf(page.content.map(({ id }) => id));
  const content = page.content.map((row) => ({ ...row, health: health.get(row.id) ?? null }));
  return { ...page, content };
}
