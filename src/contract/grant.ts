// API schemas of grants: the workspaces and permissions of a credential (interface 2.5 to 2.7).
import Type from 'typebox';
import { type Permissions, type Scope, scopes, type Verb, verbs } from '../model/permission.ts';
import { id, list, oneOf, optional, reference } from './record-fields.ts';

function verbsOf(scope: Scope) {
  const always = scope === 'organization' ? ' `read` is always granted.' : '';
  return Type.Array(oneOf(verbs), { description: `Verbs granted on \`${scope}\`.${always}` });
}

/** Scope to verbs; a scope that does not exist is refused. */
const permissions = Type.Unsafe<{ readonly [S in keyof Permissions]?: readonly Verb[] }>(
  Type.Object(Object.fromEntries(scopes.map((scope) => [scope, Type.Optional(verbsOf(scope))])), {
    additionalProperties: false,
  }),
);

export const grantFields = {
  organizationId: id,
  allWorkspaces: Type.Boolean(),
  workspaces: list(reference),
  permissions,
};

export const grantDraft = {
  organizationId: id,
  allWorkspaces: optional(Type.Boolean()),
  workspaces: optional(list(reference)),
  permissions: optional(permissions),
};
