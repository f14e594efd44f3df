// Routes of output connectors (contract 9).
import type { IncomingHttpHeaders } from 'node:http';
import {
  outputConnectorDraft,
  outputConnectorDraftByType,
  outputConnectorListQuery,
  outputConnectorSchema,
  outputConnectorUpdate,
} from '../../contract/output-connector.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createOutputConnector,
  deleteOutputConnector,
  listOutputConnectors,
  readOutputConnector,
  updateOutputConnector,
} from '../../inventory/flows/output-connectors.ts';
import type { AvailableOutputs } from '../../connectors/available-outputs.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { type ShowingParts, showingOf } from './connector-view-options.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Output connectors';

export interface OutputConnectorParts extends RecordParts, ShowingParts {
  /** The types that deliveries are served for; others cannot be made. */
  readonly availableOutputs: AvailableOutputs;
}

export function outputConnectorRoutes(parts: OutputConnectorParts): Route[] {
  const { records, now, availableOutputs } = parts;
  const showing = (headers: IncomingHttpHeaders) => showingOf(parts, headers);
  const context = (headers: IncomingHttpHeaders) => ({
    showing: showing(headers),
    available: availableOutputs,
    now: now(),
  });
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/output-connectors',
      summary: 'Output connectors of workspaces, and the global database connector',
      tag,
      access: { scope: 'dataFlow', verb: 'read', place: { narrowedByHandler: true } },
      query: outputConnectorListQuery,
      response: pageSchema(outputConnectorSchema),
      handle: ({ query, headers }, principal) => {
        const { search, scope, global } = query;
        const filter = {
          ...listScopeOf(query),
          search,
          scope,
          global,
          types: listOf(query, 'type'),
        };
        return listOutputConnectors(
          records,
          principal,
          showing(headers),
          filter,
          pageRequestOf(query),
        );
      },
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/output-connectors',
      summary: 'Make an output connector',
      tag,
      access: { scope: 'dataFlow', verb: 'create', place: byWorkspace(parts) },
      body: outputConnectorDraft,
      bodyShown: outputConnectorDraftByType,
      status: 201,
      response: outputConnectorSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createOutputConnector(step, context(input.headers), input.body),
          (id) => readOutputConnector(records, showing(input.headers), id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/output-connectors/:id',
      summary: 'One output connector',
      tag,
      access: { scope: 'dataFlow', verb: 'read', place: byId(parts, 'outputConnector') },
      params: idParams,
      response: outputConnectorSchema,
      handle: ({ params, headers }) => readOutputConnector(records, showing(headers), params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/output-connectors/:id',
      summary: 'Change an output connector',
      tag,
      access: { scope: 'dataFlow', verb: 'update', place: byId(parts, 'outputConnector') },
      params: idParams,
      body: outputConnectorUpdate,
      response: outputConnectorSchema,
      handle: ({ params, body, headers }) =>
        updateOutputConnector(records, context(headers), params.id, body),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/output-connectors/:id',
      summary: 'Delete an output connector that no data flow uses',
      tag,
      access: { scope: 'dataFlow', verb: 'delete', place: byId(parts, 'outputConnector') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteOutputConnector(records, params.id);
        return undefined;
      },
    }),
  ];
}
