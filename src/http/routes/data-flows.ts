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
import { showingOf, type ShowingParts } from './connector-view-options.ts';
import type { RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function dataFlowRoutes(parts: RecordParts & ShowingParts): Route[] {
  const { records, now } = parts;
  return recordRoutes(parts, dataFlows, {
    kind: 'dataFlow',
    list: ({ query, headers }, principal) => {
      const filter = { ...listScopeOf(query), search: query.search };
      return listDataFlows(
        records,
        principal,
        showingOf(parts, headers),
        filter,
        pageRequestOf(query),
      );
    },
    create: (step, { body, headers }, principal) =>
      createDataFlow(step, principal, showingOf(parts, headers), body, now()),
    read: (id, { headers }, principal) =>
      readDataFlow(records, principal, showingOf(parts, headers), id),
    update: (id, { body, headers }, principal) =>
      updateDataFlow(records, principal, showingOf(parts, headers), id, body, now()),
    remove: (id) => deleteDataFlow(records, id),
  });
}
