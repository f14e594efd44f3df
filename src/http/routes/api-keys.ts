// Routes of API keys (contract 23, 35).
import { apiKeys } from '../../contract/api-keys.ts';
import {
  createApiKey,
  deleteApiKey,
  listApiKeys,
  readApiKey,
} from '../../inventory/members/api-keys.ts';
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
