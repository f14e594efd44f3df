// Schemas and endpoints of OAuth clients (interface 4.9).
import Type, { type Static } from 'typebox';
import { endpoint } from './endpoint.ts';
import { grantDraft, grantFields } from './api-keys.ts';
import { namedObject } from './named.ts';
import { id, idParams, list, name, optional, orNull, text, time } from './record-fields.ts';

const clientId = Type.String({ description: 'Client ID for the token endpoint.' });
const clientSecret = Type.String({ description: 'Returned only in this response.' });

const fields = {
  id,
  name,
  description: orNull(text),
  ...grantFields,
  clientId,
  tokenUrl: Type.String({ description: 'Token endpoint URL.' }),
  created: time,
};

const oauthClientSchema = namedObject('OAuthClient', fields);
const oauthClientListSchema = list(oauthClientSchema);
const createdOAuthClientSchema = namedObject('CreatedOAuthClient', {
  ...fields,
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

const tag = 'OAuth clients';
/** Only signed-in users, as for API keys. */
const manages = { scope: 'organization', verb: 'manage', userOnly: true } as const;

export const oauthClients = {
  list: endpoint({
    method: 'GET',
    path: '/v3/oauth-clients',
    summary: 'List OAuth clients',
    description: "Returns the organization's OAuth clients without their secrets.",
    tag,
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
    tag,
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
    tag,
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
    tag,
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
    tag,
    access: { ...manages, resource: 'path' },
    params: idParams,
  }),
} as const;
