// Grants: the workspaces and permissions of a key or a client, as their form edits them.
import type { Permissions } from '../../../../../src/model/permission.ts';
import { presets } from './key-permissions.ts';

/** Who gets the permissions; the sentence about them names it. */
export type Grantee = 'key' | 'client';

export interface Grant {
  readonly allWorkspaces: boolean;
  readonly workspaceIds: readonly string[];
  readonly permissions: Permissions;
}

export const firstGrant: Grant = {
  allWorkspaces: true,
  workspaceIds: [],
  permissions: presets.read,
};

/** The members of a body that grant. */
export function grantBody({ allWorkspaces, workspaceIds, permissions }: Grant) {
  return {
    allWorkspaces,
    workspaces: allWorkspaces ? [] : workspaceIds.map((id) => ({ id })),
    permissions: Object.fromEntries(
      Object.entries(permissions).map(([scope, verbs]) => [scope, [...verbs]]),
    ),
  };
}
