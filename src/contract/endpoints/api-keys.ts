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
