// Endpoints of API keys (contract 23).
import { apiKeyDraft, apiKeyListQuery, apiKeySchema, createdApiKeySchema } from '../api-key.ts';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';

const tag = 'API keys';
/** Only signed-in users: a key that creates keys could outlive its deletion. */
const manages = { scope: 'organization', verb: 'manage', userOnly: true } as const;

export const apiKeys = {
  list: endpoint({
    method: 'GET',
    path: '/v3/api-keys',
    summary: 'API keys of the organization, without their secrets',
    tag,
    access: { ...manages, resource: 'handler' },
    query: apiKeyListQuery,
    response: pageSchema(apiKeySchema),
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/api-keys',
    summary: 'Make an API key; the answer alone holds its secret',
    tag,
    access: { ...manages, resource: 'body' },
    body: apiKeyDraft,
    status: 201,
    response: createdApiKeySchema,
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/api-keys/:id',
    summary: 'One API key, without its secret',
    tag,
    access: { ...manages, resource: 'path' },
    params: idParams,
    response: apiKeySchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/api-keys/:id',
    summary: 'Delete an API key; it is refused from then on',
    tag,
    access: { ...manages, resource: 'path' },
    params: idParams,
  }),
} as const;
