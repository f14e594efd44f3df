// Schemas and endpoints of API keys (contract 23).
import Type, { type Static } from 'typebox';
import { endpoint } from './endpoint.ts';
import { listParameters, pageSchema } from './list-parameters.ts';
import { namedObject } from './named.ts';
import {
  id,
  idParams,
  list,
  name,
  oneOf,
  optional,
  orNull,
  reference,
  text,
  time,
} from './record-fields.ts';
import { type Permissions, type Scope, scopes, type Verb, verbs } from '../model/permission.ts';

// API schemas of grants: the workspaces and permissions of a credential (interface 2.5 to 2.7).

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

const fields = {
  id,
  name,
  description: orNull(text),
  ...grantFields,
  secretPrefix: Type.String({ description: 'First characters of the secret.' }),
  created: time,
  lastUsed: orNull(time),
  expiration: orNull(
    Type.String({
      format: 'date-time',
      description: 'Expiration time, or null if the key does not expire.',
    }),
  ),
};

const apiKeySchema = namedObject('ApiKey', fields);
const createdApiKeySchema = namedObject('CreatedApiKey', {
  ...fields,
  secret: Type.String({ description: 'Returned only in this response.' }),
});

const apiKeyDraft = namedObject('ApiKeyDraft', {
  name,
  description: optional(text),
  ...grantDraft,
  expiration: optional(
    Type.String({
      maxLength: 100,
      description:
        'Expiration time, a future ISO-8601 date-time. Without it, the key does not expire.',
    }),
  ),
});
export type ApiKeyDraft = Static<typeof apiKeyDraft>;

const apiKeyListQuery = Type.Object({
  ...listParameters(['id', 'name', 'description', 'created', 'lastUsed', 'expiration']),
  organizationId: Type.Optional(Type.String()),
});

const tag = 'API keys';
/** Only signed-in users: a key that creates keys could outlive its deletion. */
const manages = { scope: 'organization', verb: 'manage', userOnly: true } as const;

export const apiKeys = {
  list: endpoint({
    method: 'GET',
    path: '/v3/api-keys',
    summary: 'List API keys',
    description: "Returns the organization's API keys without their secrets.",
    tag,
    access: { ...manages, resource: 'handler' },
    query: apiKeyListQuery,
    response: pageSchema(apiKeySchema),
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/api-keys',
    summary: 'Create an API key',
    description: 'Creates an API key and returns its secret, which is shown only in this response.',
    tag,
    access: { ...manages, resource: 'body' },
    body: apiKeyDraft,
    status: 201,
    response: createdApiKeySchema,
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/api-keys/:id',
    summary: 'Get an API key',
    description: 'Returns an API key without its secret.',
    tag,
    access: { ...manages, resource: 'path' },
    params: idParams,
    response: apiKeySchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/api-keys/:id',
    summary: 'Delete an API key',
    description: 'Deletes an API key and revokes it immediately.',
    tag,
    access: { ...manages, resource: 'path' },
    params: idParams,
  }),
} as const;
