// Authorization: one rule for every route, and the organization in which a user of several acts (interface 2.7, 5; contract 35).
import { holds, isClosed, type Principal, type Scope, type Verb } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { Place } from '../model/record.ts';
import type { SharedDashboard } from '../model/dashboard.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { findPlace } from '../storage/records/rows/search.ts';

/**
 * Throws 404 for a place of another organization, because such rows do not exist for the principal,
 * and 403 without the permission or outside the principal's workspaces. Records of the organization
 * itself, such as device types, can be read but not changed by a credential that is restricted to
 * workspaces: a change would reach the other workspaces. Records of the installation can be read
 * alone. Without a place only scope and verb count: lists are narrowed by their handlers.
 */
export function authorize(principal: Principal, scope: Scope, verb: Verb, place?: Place): void {
  if (place === undefined && principal.inOrganizations !== undefined) {
    // The organization is not known yet, so one that allows it is enough.
    if (principal.inOrganizations.values().some((member) => holds(member, scope, verb))) return;
    throw problem('permissionDenied');
  }
  if (
    place !== undefined &&
    place.organizationId !== null &&
    place.organizationId !== principal.organizationId
  ) {
    throw problem('notFound', { what: place.what, id: place.id });
  }
  if (isClosed(principal)) throw problem('secondFactorRequired');
  if (principal.share !== undefined) {
    if (isShared(principal.share, [scope, verb], place)) return;
    throw problem('permissionDenied');
  }
  const isPermitted =
    place === undefined
      ? holds(principal, scope, verb)
      : isPermittedAt(principal, [scope, verb], place);
  if (!isPermitted) throw problem('permissionDenied');
}

/**
 * Whether the token of a shared dashboard reads the place. Without a place only scope and verb
 * count: the handler then checks each device.
 */
function isShared(
  share: SharedDashboard,
  [scope, verb]: readonly [Scope, Verb],
  place: Place | undefined,
): boolean {
  if (verb !== 'read') return false;
  if (place === undefined) return scope === 'asset';
  if (place.workspaceId !== share.workspaceId) return false;
  if (scope === 'dashboard') return place.what === 'dashboard' && place.id === share.dashboardId;
  if (scope === 'blob') return place.what === 'blob' && share.blobs.has(place.id);
  if (scope !== 'asset') return false;
  return ['device', 'tag', 'place'].includes(place.what) && share.series.has(place.id);
}

type Where = { readonly organizationId: string | null; readonly workspaceId: string | null };

/** Whether the principal may do the verb at a place of its organization. */
export function isPermittedAt(
  principal: Principal,
  [scope, verb]: readonly [Scope, Verb],
  where: Where,
): boolean {
  return holds(principal, scope, verb, where.workspaceId) && reaches(principal, where, verb);
}

function reaches(principal: Principal, place: Where, verb: Verb): boolean {
  if (place.organizationId === null) return verb === 'read';
  if (principal.workspaces === 'all') return true;
  if (place.workspaceId === null) return verb === 'read';
  return principal.workspaces.has(place.workspaceId);
}

// Named organization: in which organization a user of several acts, by the ids that a request contains (contract 36).

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
