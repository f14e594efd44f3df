// Routes of integrations with LoRaWAN network servers (contract 35).
import Type from 'typebox';
import {
  integrationDraft,
  integrationSchema,
  integrationUpdate,
} from '../../contract/integration.ts';
import { commonSortFields, workspaceListParameters } from '../../contract/list-parameters.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  type CheckHost,
  createIntegration,
  deleteIntegration,
  listIntegrations,
  placeOfNewIntegration,
  readIntegration,
  updateIntegration,
} from '../../inventory/flows/integrations.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Integrations';

export interface IntegrationParts extends RecordParts {
  readonly checkHost: CheckHost;
}

export function integrationRoutes(parts: IntegrationParts): Route[] {
  const { records, now, checkHost } = parts;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/integrations',
      summary: 'Integrations of workspaces',
      tag,
      access: { scope: 'integration', verb: 'read', place: { narrowedByHandler: true } },
      query: Type.Object(workspaceListParameters([...commonSortFields, 'type'])),
      response: pageSchema(integrationSchema),
      handle: ({ query }, principal) =>
        listIntegrations(
          records,
          principal,
          { ...listScopeOf(query), search: query.search },
          pageRequestOf(query),
        ),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/integrations',
      summary: 'Make an integration and its device connector',
      tag,
      access: {
        scope: 'integration',
        verb: 'create',
        place: { byBody: (body, principal) => placeOfNewIntegration(records, principal, body) },
      },
      body: integrationDraft,
      status: 201,
      response: integrationSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createIntegration(step, principal, input.body, checkHost, now()),
          (id) => readIntegration(records, principal, id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/integrations/:id',
      summary: 'One integration',
      tag,
      access: { scope: 'integration', verb: 'read', place: byId(parts, 'integration') },
      params: idParams,
      response: integrationSchema,
      handle: ({ params }, principal) => readIntegration(records, principal, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/integrations/:id',
      summary: 'Change an integration',
      tag,
      access: { scope: 'integration', verb: 'update', place: byId(parts, 'integration') },
      params: idParams,
      body: integrationUpdate,
      response: integrationSchema,
      handle: ({ params, body }, principal) =>
        updateIntegration(records, principal, params.id, body, checkHost, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/integrations/:id',
      summary: 'Delete an integration that nothing uses, and its device connector',
      tag,
      access: { scope: 'integration', verb: 'delete', place: byId(parts, 'integration') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteIntegration(records, params.id);
        return undefined;
      },
    }),
  ];
}
