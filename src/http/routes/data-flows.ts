// Routes of data flows (contract 10).
import type { IncomingHttpHeaders } from 'node:http';
import Type from 'typebox';
import {
  dataFlowDraft,
  dataFlowItemSchema,
  dataFlowSchema,
  dataFlowUpdate,
} from '../../contract/data-flow.ts';
import { workspaceListParameters } from '../../contract/list-parameters.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createDataFlow,
  deleteDataFlow,
  listDataFlows,
  readDataFlow,
  updateDataFlow,
} from '../../inventory/flows/data-flows.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { type ShowingParts, showingOf } from './connector-view-options.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Data flows';

export function dataFlowRoutes(parts: RecordParts & ShowingParts): Route[] {
  const { records, now } = parts;
  const showing = (headers: IncomingHttpHeaders) => showingOf(parts, headers);
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/data-flows',
      summary: 'Data flows of workspaces',
      tag,
      access: { scope: 'dataFlow', verb: 'read', place: { narrowedByHandler: true } },
      query: Type.Object(workspaceListParameters()),
      response: pageSchema(dataFlowItemSchema),
      handle: ({ query, headers }, principal) => {
        const filter = { ...listScopeOf(query), search: query.search };
        return listDataFlows(records, principal, showing(headers), filter, pageRequestOf(query));
      },
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/data-flows',
      summary: 'Make a data flow',
      tag,
      access: { scope: 'dataFlow', verb: 'create', place: byWorkspace(parts) },
      body: dataFlowDraft,
      status: 201,
      response: dataFlowSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createDataFlow(step, principal, showing(input.headers), input.body, now()),
          (id) => readDataFlow(records, principal, showing(input.headers), id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/data-flows/:id',
      summary: 'One data flow',
      tag,
      access: { scope: 'dataFlow', verb: 'read', place: byId(parts, 'dataFlow') },
      params: idParams,
      response: dataFlowSchema,
      handle: ({ params, headers }, principal) =>
        readDataFlow(records, principal, showing(headers), params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/data-flows/:id',
      summary: 'Change a data flow',
      tag,
      access: { scope: 'dataFlow', verb: 'update', place: byId(parts, 'dataFlow') },
      params: idParams,
      body: dataFlowUpdate,
      response: dataFlowSchema,
      handle: ({ params, body, headers }, principal) =>
        updateDataFlow(records, principal, showing(headers), params.id, body, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/data-flows/:id',
      summary: 'Delete a data flow that no device uses',
      tag,
      access: { scope: 'dataFlow', verb: 'delete', place: byId(parts, 'dataFlow') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteDataFlow(records, params.id);
        return undefined;
      },
    }),
  ];
}
