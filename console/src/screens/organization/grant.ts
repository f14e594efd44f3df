// Grants: the workspaces and permissions of a key or a client, as their form edits them.
import {
  everyPermission,
  type Permissions,
  type Scope,
  scopes,
  type Verb,
  verbsOfScope,
} from '../../../../src/model/permission.ts';

// Key permissions: the grid of scopes and verbs, its presets, and what it allows in one sentence.

export const presetNames = ['read', 'send', 'integrate', 'all'] as const;
type PresetName = (typeof presetNames)[number];

const readable = scopes.filter((scope) => verbsOfScope[scope].includes('read'));

export const presets: { readonly [P in PresetName]: Permissions } = {
  read: Object.fromEntries(readable.map((scope) => [scope, ['read']])),
  send: { asset: ['read', 'update'] },
  integrate: {
    workspace: ['read'],
    asset: ['create', 'read', 'update'],
    deviceType: ['read'],
    dataFlow: ['read'],
    integration: ['read'],
    rule: ['read'],
  },
  all: everyPermission,
};

/** The permissions with one verb of a scope added or taken away. */
export function withVerb(permissions: Permissions, scope: Scope, verb: Verb): Permissions {
  const before = permissions[scope] ?? [];
  const after = verbsOfScope[scope].filter((one) =>
    one === verb ? !before.includes(verb) : before.includes(one),
  );
  const { [scope]: _changed, ...rest } = permissions;
  return after.length === 0 ? rest : { ...rest, [scope]: after };
}

/** Verbs with the scopes that they are granted on, such as `read` -> `asset, rule`. */
export function grantedByVerb(permissions: Permissions): ReadonlyMap<Verb, readonly Scope[]> {
  const granted = new Map<Verb, Scope[]>();
  for (const scope of scopes)
    for (const verb of permissions[scope] ?? [])
      granted.set(verb, [...(granted.get(verb) ?? []), scope]);
  return granted;
}

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
