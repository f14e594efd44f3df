// Schemas and endpoints of API keys, OAuth clients and the token service (interface 4.9, 4.10, contract 23).
import Type, { type Static } from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  id,
  idParams,
  list,
  listParameters,
  name,
  namedObject,
  oneOf,
  optional,
  orNull,
  pageSchema,
  reference,
  text,
  time,
} from './schema-parts.ts';
import { type Permissions, type Scope, scopes, type Verb, verbs } from '../model/principal.ts';
import { tokenPaths } from '../model/credential.ts';

const tokenRefusal = namedObject('TokenRefusal', {
  error: Type.String({ description: 'OAuth error code, such as `invalid_client`.' }),
  error_description: Type.String(),
});

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

const grantFields = {
  organizationId: id,
  allWorkspaces: Type.Boolean(),
  workspaces: list(reference),
  permissions,
};

const grantDraft = {
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

// Schemas and endpoints of OAuth clients and of the token service (interface 4.9, 4.10).

const clientId = Type.String({ description: 'Client ID for the token endpoint.' });
const clientSecret = Type.String({ description: 'Returned only in this response.' });

const clientFields = {
  id,
  name,
  description: orNull(text),
  ...grantFields,
  clientId,
  tokenUrl: Type.String({ description: 'Token endpoint URL.' }),
  created: time,
};

const oauthClientSchema = namedObject('OAuthClient', clientFields);
const oauthClientListSchema = list(oauthClientSchema);
const createdOAuthClientSchema = namedObject('CreatedOAuthClient', {
  ...clientFields,
  clientSecret,
});
const rotatedSecretSchema = namedObject('RotatedSecret', { id, clientId, clientSecret });

const oauthClientDraft = namedObject('OAuthClientDraft', {
  name,
  description: optional(text),
  ...grantDraft,
});
export type OAuthClientDraft = Static<typeof oauthClientDraft>;
const oauthClientListQuery = Type.Object({ organizationId: Type.Optional(Type.String()) });

const clientTag = 'OAuth clients';

export const oauthClients = {
  list: endpoint({
    method: 'GET',
    path: '/v3/oauth-clients',
    summary: 'List OAuth clients',
    description: "Returns the organization's OAuth clients without their secrets.",
    tag: clientTag,
    access: { ...manages, resource: 'handler' },
    query: oauthClientListQuery,
    response: oauthClientListSchema,
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/oauth-clients',
    summary: 'Create an OAuth client',
    description:
      'Creates an OAuth client and returns its secret, which is shown only in this response.',
    tag: clientTag,
    access: { ...manages, resource: 'body' },
    body: oauthClientDraft,
    status: 201,
    response: createdOAuthClientSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/oauth-clients/:id',
    summary: 'Get an OAuth client',
    description: 'Returns an OAuth client without its secret.',
    tag: clientTag,
    access: { ...manages, resource: 'path' },
    params: idParams,
    response: oauthClientSchema,
  }),
  rotateSecret: endpoint({
    method: 'POST',
    path: '/v3/oauth-clients/:id/rotate-secret',
    summary: 'Rotate an OAuth client secret',
    description:
      'Replaces the client secret immediately; issued access tokens stay valid until they expire.',
    tag: clientTag,
    access: { ...manages, resource: 'path' },
    params: idParams,
    response: rotatedSecretSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/oauth-clients/:id',
    summary: 'Delete an OAuth client',
    description:
      'Deletes an OAuth client; issued access tokens are rejected within about a minute.',
    tag: clientTag,
    access: { ...manages, resource: 'path' },
    params: idParams,
  }),
} as const;

// Schemas and endpoints of the token service (interface 4.10).

const issuedTokenSchema = namedObject('IssuedToken', {
  access_token: Type.String({
    description: 'JWT access token. Send it as `Authorization: Bearer`.',
  }),
  expires_in: Type.Integer({
    description: 'Lifetime of the token in seconds.',
  }),
  token_type: Type.Literal('Bearer'),
});

const tokenForm = namedObject('TokenForm', {
  grant_type: Type.Literal('client_credentials'),
  client_id: Type.Optional(Type.String({ description: 'Client ID. Not needed with HTTP Basic.' })),
  client_secret: Type.Optional(
    Type.String({ description: 'Client ID. Not needed with HTTP Basic.' }),
  ),
});

const texts = Type.Array(Type.String());

const discoverySchema = namedObject('TokenDiscovery', {
  issuer: Type.String(),
  token_endpoint: Type.String(),
  jwks_uri: Type.String(),
  grant_types_supported: texts,
  response_types_supported: texts,
  token_endpoint_auth_methods_supported: texts,
  token_endpoint_auth_signing_alg_values_supported: texts,
  id_token_signing_alg_values_supported: texts,
  subject_types_supported: texts,
});

const keySetSchema = namedObject('KeySet', {
  keys: Type.Array(
    Type.Object({
      kty: Type.String(),
      crv: Type.String(),
      x: Type.String(),
      y: Type.String(),
      kid: Type.String(),
      alg: Type.String(),
      use: Type.String(),
    }),
  ),
});

const tokensTag = 'Tokens';
const formBytesMax = 16 * 1024;

export const tokenService = {
  issue: endpoint({
    method: 'POST',
    path: tokenPaths.token,
    summary: 'Get an access token',
    description:
      'Exchanges client credentials, sent as form fields or HTTP Basic, for a 15-minute access token.',
    tag: tokensTag,
    access: { open: 'Authenticated by the client ID and client secret in the request.' },
    form: true,
    bodyTypes: { 'application/x-www-form-urlencoded': tokenForm },
    bodyBytesMax: formBytesMax,
    response: issuedTokenSchema,
    refusalSchema: tokenRefusal,
  }),
  discovery: endpoint({
    method: 'GET',
    path: tokenPaths.discovery,
    summary: 'Get OpenID discovery metadata',
    description: 'Returns the endpoints and capabilities of the token service.',
    tag: tokensTag,
    access: { open: 'No authentication.' },
    response: discoverySchema,
  }),
  keys: endpoint({
    method: 'GET',
    path: tokenPaths.keys,
    summary: 'Get token signing keys',
    description: 'Returns the public keys (JWKS) that verify access tokens.',
    tag: tokensTag,
    access: { open: 'No authentication.' },
    response: keySetSchema,
  }),
} as const;
