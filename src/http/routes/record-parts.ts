// What the routes of records share: where their records live, and creates that are done once per Idempotency-Key.
import type { Once } from '../../flows/idempotency.ts';
import { type Inventory, placeInWorkspace, placeOf } from '../../inventory/places.ts';
import type { Json } from '../../model/json.ts';
import type { Place } from '../../model/place.ts';
import type { Principal } from '../../model/principal.ts';
import type { RouteInput } from '../route.ts';

export interface RecordParts {
  readonly records: Inventory;
  readonly now: () => number;
  readonly once: Once;
}

type Kind = Parameters<typeof placeOf>[1];

/** The place of the record in the path. */
export function byId({ records }: RecordParts, kind: Kind) {
  return { byParams: ({ id }: { readonly id: string }) => placeOf(records, kind, id) };
}

/** The place of what will be made in the workspace of the body. */
export function byWorkspace({ records }: RecordParts) {
  return { byBody: ({ workspaceId }: { readonly workspaceId: string }) => placeInWorkspace(records, workspaceId) };
}

/** The place of what will be made in the organization of the body; an unknown one is a 404 like any foreign one. */
export const byOrganization = {
  byBody: ({ organizationId }: { readonly organizationId: string }): Place => ({
    organizationId,
    workspaceId: null,
    what: 'organization',
    id: organizationId,
  }),
};

/** Makes the record, or reads the one that an earlier request with the same Idempotency-Key made. */
export async function createdOnce<T extends { readonly id: string }>(
  parts: RecordParts,
  input: RouteInput<unknown, unknown, unknown>,
  principal: Principal,
  make: () => Promise<T>,
  read: (id: string) => Promise<T>,
): Promise<T> {
  const key = input.headers['idempotency-key'];
  if (typeof key !== 'string') return make();
  let made: T | undefined;
  const call = { credential: principal.id, route: `POST ${input.path}`, key, body: input.body as Json };
  // The id alone is kept: answers may hold secrets.
  const { body } = await parts.once(call, async () => {
    made = await make();
    return { status: 201, body: made.id };
  });
  return made ?? read(String(body));
}
