// Routes of OAuth clients (interface 4.9, contract 24, 35).
import { oauthClients } from '../../contract/oauth-clients.ts';
import {
  createOAuthClient,
  deleteOAuthClient,
  listOAuthClients,
  readOAuthClient,
  rotateClientSecret,
} from '../../inventory/members/oauth-clients.ts';
import { resourceRoute, type Route, route } from '../edge/route.ts';
import { answeredOnce } from './create-once.ts';
import { byId, byOrganization, type RecordParts } from './record-parts.ts';

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
