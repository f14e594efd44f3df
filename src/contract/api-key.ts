// The wire form of API keys; the secret is in the answer to their creation alone (interface 2.6 and 2.7, contract 23).
import Type from 'typebox';
import { type Permissions, scopes, type Verb, verbs } from '../model/permission.ts';
import { listParameters } from './list-parameters.ts';
import { id, list, name, oneOf, optional, orNull, reference, text, time } from './record-fields.ts';

const verbList = Type.Array(oneOf(verbs));
/** Scope to verbs; a scope that does not exist is refused. */
const permissions = Type.Unsafe<{ readonly [S in keyof Permissions]?: readonly Verb[] }>(
  Type.Object(Object.fromEntries(scopes.map((scope) => [scope, Type.Optional(verbList)])), {
    additionalProperties: false,
  }),
);

const fields = {
  id,
  name,
  description: orNull(text),
  organizationId: id,
  allWorkspaces: Type.Boolean(),
  workspaces: list(reference),
  permissions,
  secretPrefix: Type.String({ description: 'Beginning of the secret, to recognise the key by' }),
  created: time,
  lastUsed: orNull(time),
};

export const apiKeySchema = Type.Object(fields);
export const createdApiKeySchema = Type.Object({
  ...fields,
  secret: Type.String({ description: 'Shown this once' }),
});

export const apiKeyDraft = Type.Object({
  name,
  description: optional(text),
  organizationId: id,
  allWorkspaces: optional(Type.Boolean()),
  workspaces: optional(list(reference)),
  permissions: optional(permissions),
});

export const apiKeyListQuery = Type.Object({ ...listParameters, organizationId: Type.Optional(Type.String()) });
