// Roles: the permissions of the roles of members, in one table (contract 2).
import {
  everyPermission,
  type Permissions,
  type Scope,
  scopes,
  type Verb,
  verbsOfScope,
} from './permission.ts';
import type { OrganizationRole, WorkspaceRole } from './user.ts';

// What lives in workspaces, or serves what lives there.
const contentScopes = [
  'asset',
  'deviceType',
  'dataFlow',
  'integration',
  'rule',
  'customLogic',
  'deviceCredential',
  'dashboard',
  'dashboard.group',
  'blob',
  'dataFusionLayer',
] as const satisfies readonly Scope[];

const allOfContent: Permissions = Object.fromEntries(
  contentScopes.map((scope) => [scope, verbsOfScope[scope]]),
);
const readContent: Permissions = Object.fromEntries(
  contentScopes.map((scope) => [scope, ['read']]),
);

function without(verb: Verb, verbs: readonly Verb[]): readonly Verb[] {
  return verbs.filter((one) => one !== verb);
}

export const organizationRolePermissions: { readonly [R in OrganizationRole]: Permissions } = {
  OWNER: everyPermission,
  ADMIN: { ...everyPermission, organization: without('delete', verbsOfScope.organization) },
  EDITOR: {
    ...allOfContent,
    organization: ['read', 'update'],
    'organization.member': ['read'],
    workspace: ['create', 'read', 'update', 'delete'],
    'workspace.member': ['read'],
  },
  VIEWER: {
    ...readContent,
    organization: ['read'],
    'organization.member': ['read'],
    workspace: ['read'],
    'workspace.member': ['read'],
  },
  MEMBER: { organization: ['read'] },
};

/** Every role reads the same, so that a list over several workspaces needs no look at each. */
export const workspaceRolePermissions: { readonly [R in WorkspaceRole]: Permissions } = {
  ADMIN: {
    ...allOfContent,
    workspace: ['read', 'update', 'delete', 'manage'],
    'workspace.member': verbsOfScope['workspace.member'],
  },
  EDITOR: { ...allOfContent, workspace: ['read', 'update'], 'workspace.member': ['read'] },
  VIEWER: { ...readContent, workspace: ['read'], 'workspace.member': ['read'] },
};

/** Whether the roles above MEMBER carry into every workspace: all but MEMBER do. */
export function reachesAllWorkspaces(role: OrganizationRole): boolean {
  return role !== 'MEMBER';
}

/** Whether everything in `less` is in what `granted` says yes to. */
export function covers(granted: (scope: Scope, verb: Verb) => boolean, less: Permissions): boolean {
  return scopes.every((scope) => (less[scope] ?? []).every((verb) => granted(scope, verb)));
}
