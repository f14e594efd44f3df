// Routes of OAuth clients: for signed-in users alone, like API keys (interface 4.9, contract 24, 35).
import {
  createdOAuthClientSchema,
  oauthClientDraft,
  oauthClientListQuery,
  oauthClientListSchema,
  oauthClientSchema,
  rotatedSecretSchema,
} from '../../contract/oauth-client.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createOAuthClient,
  deleteOAuthClient,
  listOAuthClients,
  readOAuthClient,
  rotateClientSecret,
} from '../../inventory/members/oauth-clients.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { answeredOnce, byId, byOrganization, type RecordParts } from './record-parts.ts';

const tag = 'OAuth clients';
const manages = { scope: 'organization', verb: 'manage', userOnly: true } as const;

export function oauthClientRoutes(parts: RecordParts & { readonly tokenUrl: string }): Route[] {
  const { records, now, tokenUrl } = parts;
  const one = { ...manages, place: byId(parts, 'oauthClient') };
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/oauth-clients',
      summary: 'OAuth clients of the organization, without their secrets',
      tag,
      access: { ...manages, place: { narrowedByHandler: true } },
      query: oauthClientListQuery,
      response: oauthClientListSchema,
      handle: ({ query }, principal) =>
        listOAuthClients(records, principal, query.organizationId, tokenUrl),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/oauth-clients',
      summary: 'Make an OAuth client; the answer alone holds its secret',
      tag,
      access: { ...manages, place: byOrganization },
      body: oauthClientDraft,
      status: 201,
      response: createdOAuthClientSchema,
      handle: (input, principal) =>
        answeredOnce(parts, input, principal, (step) =>
          createOAuthClient(step, principal, input.body, tokenUrl, now()),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/oauth-clients/:id',
      summary: 'One OAuth client, without its secret',
      tag,
      access: one,
      params: idParams,
      response: oauthClientSchema,
      handle: ({ params }) => readOAuthClient(records, params.id, tokenUrl),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/oauth-clients/:id/rotate-secret',
      summary:
        'Give an OAuth client a new secret; the old one is refused at once, issued tokens live on',
      tag,
      access: one,
      params: idParams,
      response: rotatedSecretSchema,
      handle: ({ params }, principal) => rotateClientSecret(records, principal, params.id),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/oauth-clients/:id',
      summary: 'Delete an OAuth client; it gets no more tokens, and those it has are refused',
      tag,
      access: one,
      params: idParams,
      handle: async ({ params }) => {
        await deleteOAuthClient(records, params.id);
        return undefined;
      },
    }),
  ];
}
