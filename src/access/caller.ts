// Caller: who a credential belongs to, with its organizations, account and preferences (contract 37).
import type { JsonObject } from '../model/json.ts';
import {
  everyPermission,
  type Permissions,
  type Scope,
  scopes,
  type Verb,
} from '../model/permission.ts';
import { isClosed, type Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import { callerWorkspacesMax } from '../model/user.ts';
import type { Records, RecordsDb } from '../storage/records/records.ts';
import { organizationMembershipsOf, userRows } from '../storage/records/rows/users.ts';
import { organizationRows, workspaceRows } from '../storage/records/rows/workspaces.ts';
import { findPreferences, savePreferences } from '../storage/records/rows/views.ts';
import { isPermittedAt } from './authorize.ts';

/**
 * `principal` is the one that the credential has now: for a session with every organization of its
 * user. Throws 401 for a user who is gone.
 */
export async function readCaller(db: RecordsDb, principal: Principal) {
  const { kind, organizationId } = principal;
  const inOrganizations = principal.inOrganizations ?? new Map([[organizationId, principal]]);
  const account =
    kind === 'USER' ? await readAccount(db, principal) : await credentialAccount(db, principal);
  return {
    kind,
    ...account,
    organizations: account.organizations.map((organization) => {
      const there = inOrganizations.get(organization.organizationId);
      const permissions = there ? permissionsInOrganization(there) : {};
      const secondFactorMissing = isClosed(principal, organization.organizationId);
      return { ...organization, permissions, secondFactorMissing };
    }),
    ...(await permissionsOf(db, organizationId, inOrganizations)),
  };
}

/** A key or client in the form of a user's account. */
async function credentialAccount(db: RecordsDb, { id, name, organizationId }: Principal) {
  const names = await organizationRows.namesOf(db, [organizationId]);
  const organization = { organizationId, name: names.get(organizationId) ?? '', role: null };
  return { id, name, email: null, organizationId, role: null, organizations: [organization] };
}

/** Of the workspaces of the first organization, then of the others, up to the limit. */
async function permissionsOf(
  db: RecordsDb,
  firstId: string,
  inOrganizations: ReadonlyMap<string, Principal>,
) {
  const ordered = [...inOrganizations.values()].sort(
    (a, b) => Number(b.organizationId === firstId) - Number(a.organizationId === firstId),
  );
  let permissions = {};
  let left = callerWorkspacesMax;
  for (const principal of ordered) {
    const { organizationId, workspaces } = principal;
    const workspaceIds = workspaces === 'all' ? undefined : [...workspaces];
    const ids = await workspaceRows.firstIds(db, { organizationId, workspaceIds }, left + 1);
    const shown = ids.slice(0, left);
    permissions = { ...permissions, ...permissionsByWorkspace(principal, shown) };
    left -= shown.length;
    if (ids.length > shown.length) return { permissions, permissionsComplete: false };
  }
  return { permissions, permissionsComplete: true };
}

// Effective permissions: what a principal may do in workspaces, by the checks of requests (contract 37).

/** Scopes of records that belong to the organization and not to one of its workspaces. */
const organizationScopes: ReadonlySet<Scope> = new Set([
  'organization',
  'organization.member',
  'deviceType',
  'customLogic',
  'billing',
]);

/** Verbs by scope that the principal may do with records of the organization itself. */
function permissionsInOrganization(principal: Principal): Permissions {
  return permittedAt(principal, () => null);
}

/**
 * Verbs by scope that the principal may do in each of the workspaces. A scope of records of the
 * organization, such as device types, counts as it does there.
 */
function permissionsByWorkspace(
  principal: Principal,
  workspaceIds: readonly string[],
): Readonly<Record<string, Permissions>> {
  // Most workspaces have no role, and those with the same role the same permissions.
  const known = new Map<Permissions | undefined, Permissions>();
  const inWorkspace = (workspaceId: string): Permissions => {
    const role = principal.workspacePermissions?.get(workspaceId);
    const permitted =
      known.get(role) ??
      permittedAt(principal, (scope, verb) => (isOfOrganization(scope, verb) ? null : workspaceId));
    known.set(role, permitted);
    return permitted;
  };
  return Object.fromEntries(workspaceIds.map((id) => [id, inWorkspace(id)]));
}

/** A new workspace belongs to the organization. */
function isOfOrganization(scope: Scope, verb: Verb): boolean {
  return organizationScopes.has(scope) || (scope === 'workspace' && verb === 'create');
}

function permittedAt(
  principal: Principal,
  workspaceOf: (scope: Scope, verb: Verb) => string | null,
): Permissions {
  const { organizationId } = principal;
  const permitted = scopes.map((scope) => {
    const verbs = (everyPermission[scope] ?? []).filter((verb) =>
      isPermittedAt(principal, [scope, verb], {
        organizationId,
        workspaceId: workspaceOf(scope, verb),
      }),
    );
    return [scope, verbs] as const;
  });
  return Object.fromEntries(permitted.filter(([, verbs]) => verbs.length > 0));
}

// A user's own account as the console shows it: who, in which organization, with which role.

/** `organizationId` is that of the session. Throws 401 for somebody who is gone. */
export async function readAccount(
  db: RecordsDb,
  { id, organizationId }: { readonly id: string; readonly organizationId: string },
) {
  const user = await userRows.find(db, id);
  const memberships = (await organizationMembershipsOf(db, id)).filter(
    ({ acceptedAt }) => acceptedAt !== null,
  );
  const role = memberships.find((member) => member.organizationId === organizationId)?.role;
  if (user === undefined || role === undefined) throw problem('unauthorized');
  const names = await organizationRows.namesOf(
    db,
    memberships.map((member) => member.organizationId),
  );
  const organizations = memberships.map((member) => ({
    organizationId: member.organizationId,
    name: names.get(member.organizationId) ?? '',
    role: member.role,
  }));
  const isFirst = user.passwordHash !== null && (await userRows.hasFirstPassword(db, id));
  return {
    id,
    name: user.name,
    email: user.email,
    organizationId,
    role,
    organizations,
    ...(isFirst && { passwordChangeRequired: true }),
  };
}

// Preferences: what a user or a credential stores for a console, visible only to its owner (contract 37).

type Owner = { readonly id: string };

/** Empty for an owner who has stored nothing. */
export function readPreferences({ db }: Records, { id }: Owner): Promise<JsonObject> {
  return findPreferences(db, id);
}

/** Replaces all of them; returns what is stored now. */
export async function replacePreferences(
  { db, now }: Records,
  { id }: Owner,
  preferences: JsonObject,
): Promise<JsonObject> {
  await savePreferences(db, { ownerId: id, preferences }, now());
  return preferences;
}
