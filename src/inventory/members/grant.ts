// Grants of new API keys and OAuth clients: workspaces that exist, verbs that apply (interface 2.5 to 2.7).
import type { Grant } from '../../model/credential.ts';
import { type Permissions, type Scope, type Verb, verbsOfScope } from '../../model/permission.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { findPlace } from '../../storage/records/rows/resource-refs.ts';
import type { Step } from '../record-change.ts';
import { assertGrantWithinOwn } from './grant-limit.ts';

export interface GrantDraft {
  readonly organizationId: string;
  readonly allWorkspaces?: boolean | null | undefined;
  readonly workspaces?: readonly { readonly id: string }[] | null | undefined;
  readonly permissions?:
    | { readonly [S in keyof Permissions]?: readonly Verb[] | undefined }
    | null
    | undefined;
}

/**
 * Throws 400 for a workspace of another organization, none at all, and a verb that does not apply
 * to its scope; 403 for more than the caller holds.
 */
export async function grantFrom(
  step: Step,
  principal: Principal,
  draft: GrantDraft,
): Promise<Grant> {
  const permissions = permissionsFrom(draft.permissions);
  const workspaceIds = await workspacesFrom(step, draft);
  assertGrantWithinOwn(principal, { permissions, workspaceIds });
  return {
    organizationId: draft.organizationId,
    allWorkspaces: workspaceIds.length === 0,
    workspaceIds,
    permissions,
  };
}

/** Reading the organization is always granted and cannot be removed (interface 2.6). */
function permissionsFrom(sent: GrantDraft['permissions']): Permissions {
  const entries = Object.entries(sent ?? {}).map(
    ([scope, verbs]) => [scope, [...new Set(verbs)]] as const,
  );
  for (const [scope, verbs] of entries) {
    const wrong = verbs.find((verb) => !verbsOfScope[scope as Scope].includes(verb));
    if (wrong !== undefined)
      throw problem('invalidPermissions', { scope, verb: wrong, valid: validPairs });
  }
  const permissions: Permissions = Object.fromEntries(entries);
  return {
    ...permissions,
    organization: [...new Set<Verb>(['read', ...(permissions.organization ?? [])])],
  };
}

const validPairs = Object.entries(verbsOfScope)
  .map(([scope, verbs]) => `${scope}: ${verbs.join(', ')}`)
  .join('; ');

async function workspacesFrom(step: Step, draft: GrantDraft): Promise<string[]> {
  const named = draft.workspaces ?? undefined;
  if (draft.allWorkspaces ?? named === undefined) return [];
  const ids = [...new Set((named ?? []).map((workspace) => workspace.id))];
  for (const id of ids) {
    const place = await findPlace(step.db, 'workspace', id);
    if (place?.organizationId !== draft.organizationId) {
      throw problem('unknownReference', {
        field: 'body workspaces',
        what: 'workspace',
        id,
        place: 'organization',
      });
    }
  }
  if (ids.length === 0) {
    throw problem('invalidRequest', {
      reason: 'body workspaces: is required unless allWorkspaces is true',
    });
  }
  return ids;
}
