// Routes of data flows (contract 10).
import type { IncomingHttpHeaders } from 'node:http';
import { dataFlows } from '../../contract/data-flows.ts';
import {
  createDataFlow,
  deleteDataFlow,
  listDataFlows,
  readDataFlow,
  updateDataFlow,
} from '../../inventory/data-flows/data-flows.ts';
import { type FlowHealthParts, healthOfFlows } from '../../inventory/health/health.ts';
import type { Principal } from '../../model/principal.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import { viewOptionsOf, type ViewOptionsParts } from './connector-view-options.ts';
import { type RecordParts, withHealth } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function dataFlowRoutes(parts: RecordParts & ViewOptionsParts & FlowHealthParts): Route[] {
  const { records } = parts;
  const viewer = (headers: IncomingHttpHeaders, principal: Principal) => ({
    principal,
    viewOptions: viewOptionsOf(parts, headers),
  });
  return recordRoutes(parts, dataFlows, {
    kind: 'dataFlow',
    list: async ({ query, headers }, principal) => {
      const filter = { ...listScopeOf(query), search: query.search };
      const shown = viewer(headers, principal);
      const page = await listDataFlows(records, shown, filter, pageRequestOf(query));
      return withHealth(query, page, (ids) => healthOfFlows(records, principal, ids, parts));
    },
    create: (step, { body, headers }, principal) =>
      createDataFlow(step, viewer(headers, principal), body),
    read: (id, { headers }, principal) => readDataFlow(records, viewer(headers, principal), id),
    update: (id, { body, headers }, principal) =>
      updateDataFlow(records, viewer(headers, principal), id, body),
    remove: (id) => deleteDataFlow(records, id),
  });
}
