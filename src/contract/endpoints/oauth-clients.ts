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
    summary: 'OAuth clients of the organization, without their secrets',
    tag,
    access: { ...manages, resource: 'handler' },
    query: oauthClientListQuery,
    response: oauthClientListSchema,
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/oauth-clients',
    summary: 'Make an OAuth client; the answer alone holds its secret',
    tag,
    access: { ...manages, resource: 'body' },
    body: oauthClientDraft,
    status: 201,
    response: createdOAuthClientSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/oauth-clients/:id',
    summary: 'One OAuth client, without its secret',
    tag,
    access: { ...manages, resource: 'path' },
    params: idParams,
    response: oauthClientSchema,
  }),
  rotateSecret: endpoint({
    method: 'POST',
    path: '/v3/oauth-clients/:id/rotate-secret',
    summary:
      'Give an OAuth client a new secret; the old one is refused at once, issued tokens live on',
    tag,
    access: { ...manages, resource: 'path' },
    params: idParams,
    response: rotatedSecretSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/oauth-clients/:id',
    summary: 'Delete an OAuth client; it gets no more tokens, and those it has are refused',
    tag,
    access: { ...manages, resource: 'path' },
    params: idParams,
  }),
} as const;
