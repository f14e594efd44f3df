// Endpoints of OAuth clients (interface 4.9).
import { endpoint } from '../endpoint.ts';
import {
  createdOAuthClientSchema,
  oauthClientDraft,
  oauthClientListQuery,
  oauthClientListSchema,
  oauthClientSchema,
  rotatedSecretSchema,
} from '../oauth-client.ts';
import { idParams } from '../record-fields.ts';

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
