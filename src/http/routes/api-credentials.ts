// Routes of API keys and OAuth clients (interface 4.9, contract 23, 24, 35).
import { apiKeys } from '../../contract/api-keys.ts';
import { oauthClients } from '../../contract/oauth-clients.ts';
import {
  createApiKey,
  deleteApiKey,
  listApiKeys,
  readApiKey,
} from '../../inventory/members/api-keys.ts';
import {
  createOAuthClient,
  deleteOAuthClient,
  listOAuthClients,
  readOAuthClient,
  rotateClientSecret,
} from '../../inventory/members/oauth-clients.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route, route } from '../edge/route.ts';
import { answeredOnce } from './create-once.ts';
import { byId, byOrganization, type RecordParts } from './record-parts.ts';

export function apiKeyRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return [
    route(apiKeys.list, ({ query }, principal) =>
      listApiKeys(records, principal, query, pageRequestOf(query)),
    ),
    resourceRoute(apiKeys.create, byOrganization, (input, principal) =>
      answeredOnce(parts, { input, principal }, (step) =>
        createApiKey(step, principal, input.body),
      ),
    ),
    resourceRoute(apiKeys.read, byId(parts, 'apiKey'), ({ params }) =>
      readApiKey(records, params.id),
    ),
    resourceRoute(apiKeys.remove, byId(parts, 'apiKey'), ({ params }) =>
      deleteApiKey(records, params.id),
    ),
  ];
}

// Routes of OAuth clients (interface 4.9, contract 24, 35).

export function oauthClientRoutes(
  parts: RecordParts & { readonly tokenUrl: () => string },
): Route[] {
  const { records, tokenUrl } = parts;
  const place = byId(parts, 'oauthClient');
  return [
    route(oauthClients.list, ({ query }, principal) =>
      listOAuthClients(records, principal, query.organizationId, tokenUrl()),
    ),
    resourceRoute(oauthClients.create, byOrganization, (input, principal) =>
      answeredOnce(parts, { input, principal }, (step) =>
        createOAuthClient(step, principal, input.body, tokenUrl()),
      ),
    ),
    resourceRoute(oauthClients.read, place, ({ params }) =>
      readOAuthClient(records, params.id, tokenUrl()),
    ),
    resourceRoute(oauthClients.rotateSecret, place, ({ params }, principal) =>
      rotateClientSecret(records, principal, params.id),
    ),
    resourceRoute(oauthClients.remove, place, ({ params }) =>
      deleteOAuthClient(records, params.id),
    ),
  ];
}
