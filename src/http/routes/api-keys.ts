// Routes of API keys: for signed-in users alone, because a key that makes keys could outlive its deletion (contract 23, 35).
import {
  apiKeyDraft,
  apiKeyListQuery,
  apiKeySchema,
  createdApiKeySchema,
} from '../../contract/api-key.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createApiKey,
  deleteApiKey,
  listApiKeys,
  readApiKey,
} from '../../inventory/members/api-keys.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { answeredOnce, byId, byOrganization, type RecordParts } from './record-parts.ts';

const tag = 'API keys';
const manages = { scope: 'organization', verb: 'manage', userOnly: true } as const;

export function apiKeyRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/api-keys',
      summary: 'API keys of the organization, without their secrets',
      tag,
      access: { ...manages, place: { narrowedByHandler: true } },
      query: apiKeyListQuery,
      response: pageSchema(apiKeySchema),
      handle: ({ query }, principal) =>
        listApiKeys(records, principal, query, pageRequestOf(query)),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/api-keys',
      summary: 'Make an API key; the answer alone holds its secret',
      tag,
      access: { ...manages, place: byOrganization },
      body: apiKeyDraft,
      status: 201,
      response: createdApiKeySchema,
      handle: (input, principal) =>
        answeredOnce(parts, input, principal, (step) =>
          createApiKey(step, principal, input.body, now()),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/api-keys/:id',
      summary: 'One API key, without its secret',
      tag,
      access: { ...manages, place: byId(parts, 'apiKey') },
      params: idParams,
      response: apiKeySchema,
      handle: ({ params }) => readApiKey(records, params.id),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/api-keys/:id',
      summary: 'Delete an API key; it is refused from then on',
      tag,
      access: { ...manages, place: byId(parts, 'apiKey') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteApiKey(records, params.id);
        return undefined;
      },
    }),
  ];
}
