// Principal: the holder of the credential of a request, the records in its reach, and its permissions (interface 2.7, 5).
import type { EpochMs } from './instant.ts';
import type { SharedDashboard } from './dashboard.ts';

export interface Principal {
  readonly kind: 'USER' | 'API_KEY' | 'OAUTH_CLIENT';
  /** Record id of the user, key or client. */
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  /** `all` includes workspaces created later; otherwise only the listed ones. */
  readonly workspaces: 'all' | ReadonlySet<string>;
  readonly permissions: Permissions;
  /** What a user's roles in single workspaces add there (contract 2). */
  readonly workspacePermissions?: ReadonlyMap<string, Permissions>;
  /** From when on the API key is rejected; absent for one that does not expire. */
  readonly expiresAt?: EpochMs;
  /** The console session of a user. */
  readonly sessionId?: string;
  /**
   * The same user in every organization, the one of the session included; each reaches that
   * organization alone.
   */
  readonly inOrganizations?: ReadonlyMap<string, Principal>;
  /**
   * Organizations of the user that demand a second factor which this session lacks: it reads and
   * changes nothing there.
   */
  readonly closedOrganizations?: ReadonlySet<string>;
  /**
   * What the token of a shared dashboard reads: nothing else, and only by the endpoints that take
   * such tokens.
   */
  readonly share?: SharedDashboard;
}

/**
 * The principal as it acts in an organization: a user with the roles there; without an
 * organization, or in one where the user is no member, as the session has it. What is returned
 * reaches one organization alone, so that nothing of another is taken for its own.
 */
export function principalIn(principal: Principal, organizationId?: string | null): Principal {
  const { inOrganizations } = principal;
  if (inOrganizations === undefined) return principal;
  const there =
    inOrganizations.get(organizationId ?? principal.organizationId) ??
    inOrganizations.get(principal.organizationId);
  if (there === undefined) throw new Error('The principal of the session is missing');
  return there;
}

/**
 * Whether the organization, by default that in which the principal acts, demands a second factor
 * which the session lacks.
 */
export function isClosed(
  { closedOrganizations, organizationId: own }: Principal,
  organizationId = own,
): boolean {
  return closedOrganizations?.has(organizationId) === true;
}

/**
 * Whether the permissions cover scope and verb: in the workspace, in the organization itself
 * (null), or anywhere at all (undefined). Reading the organization is always granted (interface
 * 2.6). A role in some workspace lets its holder read records of the organization, such as device
 * types, because the workspace's devices need them.
 */
export function holds(
  principal: Principal,
  scope: Scope,
  verb: Verb,
  workspaceId?: string | null,
): boolean {
  if (isClosed(principal)) return false;
  if (scope === 'organization' && verb === 'read') return true;
  if (principal.permissions[scope]?.includes(verb)) return true;
  const added = principal.workspacePermissions;
  if (added === undefined) return false;
  if (typeof workspaceId === 'string')
    return added.get(workspaceId)?.[scope]?.includes(verb) ?? false;
  if (workspaceId === null && verb !== 'read') return false;
  return added.values().some((permissions) => permissions[scope]?.includes(verb) ?? false);
}

// Actor: the author of a change and the request that contains it, for the audit log (contract 26).

/** Who made a change, as records keep it. */
export type Author = {
  readonly type: Principal['kind'];
  readonly id: string;
  readonly name: string;
};

export interface Actor extends Author {
  readonly requestId: string;
  /** The address the request came from. */
  readonly ip: string;
}

// Permissions: scopes, verbs and the rights that they grant (interface 2.7).

export const scopes = [
  'organization',
  'organization.member',
  'workspace',
  'workspace.member',
  'asset',
  'deviceType',
  'dataFlow',
  'integration',
  'rule',
  'customLogic',
  'deviceCredential',
  'dashboard',
  'dashboard.group',
  'billing',
  'blob',
  'dataFusionLayer',
] as const;
export type Scope = (typeof scopes)[number];

export const verbs = ['create', 'read', 'update', 'delete', 'manage'] as const;
export type Verb = (typeof verbs)[number];

export type Permissions = { readonly [S in Scope]?: readonly Verb[] };

const changing = ['create', 'read', 'update', 'delete'] as const;
const managing = [...changing, 'manage'] as const;

/**
 * The verbs that apply to each scope; any other pair is refused in a new credential (interface
 * 2.7).
 */
export const verbsOfScope: { readonly [S in Scope]: readonly Verb[] } = {
  // No credential can make an organization: it would lie outside of its own.
  organization: ['read', 'update', 'delete', 'manage'],
  'organization.member': managing,
  workspace: managing,
  'workspace.member': managing,
  asset: changing,
  deviceType: changing,
  dataFlow: changing,
  integration: managing,
  rule: changing,
  customLogic: changing,
  deviceCredential: changing,
  dashboard: changing,
  'dashboard.group': changing,
  billing: ['read', 'manage'],
  blob: changing,
  dataFusionLayer: changing,
};

/** All there is to grant. */
export const everyPermission: Permissions = { ...verbsOfScope };
