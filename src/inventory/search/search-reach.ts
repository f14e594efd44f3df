// Search reach: the kinds of records that a principal may read, and in which workspaces (contract 37).
import type { Scope, Verb } from '../../model/permission.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { type SearchKind, searchKinds } from '../../model/search.ts';
import type { NamedKind, SearchedPlace } from '../../records/rows/search.ts';

interface SearchedKind {
  readonly needs: readonly [Scope, Verb];
  /** Whether the records are in workspaces; else they belong to the organization. */
  readonly inWorkspaces: boolean;
  /** Only signed-in users read them. */
  readonly userOnly?: true;
}

const inWorkspace = (scope: Scope): SearchedKind => ({
  needs: [scope, 'read'],
  inWorkspaces: true,
});
const inOrganization = (scope: Scope): SearchedKind => ({
  needs: [scope, 'read'],
  inWorkspaces: false,
});
const credential: SearchedKind = {
  needs: ['organization', 'manage'],
  inWorkspaces: false,
  userOnly: true,
};

const kinds: Readonly<Record<SearchKind, SearchedKind>> = {
  DEVICE: inWorkspace('asset'),
  TAG: inWorkspace('asset'),
  CUSTOM_FIELD: inWorkspace('asset'),
  DEVICE_TYPE: inOrganization('deviceType'),
  DATA_FLOW: inWorkspace('dataFlow'),
  DEVICE_CONNECTOR: inWorkspace('dataFlow'),
  OUTPUT_CONNECTOR: inWorkspace('dataFlow'),
  INTEGRATION: inWorkspace('integration'),
  RULE: inWorkspace('rule'),
  CUSTOM_LOGIC: inOrganization('customLogic'),
  DASHBOARD: inWorkspace('dashboard'),
  DASHBOARD_GROUP: inWorkspace('dashboard.group'),
  VIEW: inWorkspace('workspace'),
  BLOB: inWorkspace('blob'),
  WORKSPACE: inWorkspace('workspace'),
  MEMBER: inOrganization('organization.member'),
  API_KEY: credential,
  OAUTH_CLIENT: credential,
};

export interface SearchReach {
  /** Every kind except members. */
  readonly places: readonly SearchedPlace[];
  readonly members: boolean;
}

/** `workspaceIds` are those that the request names and the principal reaches. */
export function searchReach(
  principal: Principal,
  wanted: ReadonlySet<SearchKind>,
  workspaceIds: readonly string[] | undefined,
): SearchReach {
  const { organizationId, id: viewerId } = principal;
  const named = workspaceIds ?? reachedWorkspaces(principal);
  const places: SearchedPlace[] = [];
  for (const kind of searchKinds) {
    if (kind === 'MEMBER' || !wanted.has(kind)) continue;
    const readable = readableIn(principal, kinds[kind], named);
    if (readable === 'nowhere') continue;
    places.push({
      kind: kind satisfies NamedKind,
      organizationId,
      viewerId,
      workspaceIds: readable,
    });
  }
  const members = wanted.has('MEMBER') && readableIn(principal, kinds.MEMBER, named) !== 'nowhere';
  return { places, members };
}

function reachedWorkspaces({ workspaces }: Principal): readonly string[] | undefined {
  return workspaces === 'all' ? undefined : [...workspaces];
}

/** The workspaces with readable records; undefined for all, and for records of the organization. */
function readableIn(
  principal: Principal,
  { needs: [scope, verb], inWorkspaces, userOnly }: SearchedKind,
  named: readonly string[] | undefined,
): readonly string[] | undefined | 'nowhere' {
  if (userOnly && principal.kind !== 'USER') return 'nowhere';
  if (!inWorkspaces || named === undefined)
    return holds(principal, scope, verb, null) ? undefined : 'nowhere';
  const readable = named.filter((id) => holds(principal, scope, verb, id));
  return readable.length > 0 ? readable : 'nowhere';
}
