// Routes of data flows (contract 10).
import { dataFlows } from '../../contract/endpoints/data-flows.ts';
import {
  createDataFlow,
  deleteDataFlow,
  listDataFlows,
  readDataFlow,
  updateDataFlow,
} from '../../inventory/flows/data-flows.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import { viewOptionsOf, type ViewOptionsParts } from './connector-view-options.ts';
import type { RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function dataFlowRoutes(parts: RecordParts & ViewOptionsParts): Route[] {
  const { records, now } = parts;
  return recordRoutes(parts, dataFlows, {
    kind: 'dataFlow',
    list: ({ query, headers }, principal) => {
      const filter = { ...listScopeOf(query), search: query.search };
      return listDataFlows(
        records,
        principal,
        viewOptionsOf(parts, headers),
        filter,
        pageRequestOf(query),
      );
    },
    create: (step, { body, headers }, principal) =>
      createDataFlow(step, principal, viewOptionsOf(parts, headers), body, now()),
    read: (id, { headers }, principal) =>
      readDataFlow(records, principal, viewOptionsOf(parts, headers), id),
    update: (id, { body, headers }, principal) =>
      updateDataFlow(records, principal, viewOptionsOf(parts, headers), id, body, now()),
    remove: (id) => deleteDataFlow(records, id),
  });
}
