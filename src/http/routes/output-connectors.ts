// Routes of output connectors (contract 9).
import type { IncomingHttpHeaders } from 'node:http';
import { outputConnectors } from '../../contract/output-connectors.ts';
import { OutputConnectors } from '../../inventory/data-flows/output-connectors.ts';
import { healthOfOutputs, type OutputHealthParts } from '../../inventory/health/health.ts';
import type { AvailableOutputs } from '../../outputs/connectors/available-outputs.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import { type RecordRoutes, withHealth } from './record-routes.ts';

export function outputConnectorRoutes(
  common: RecordRoutes,
  /** The types that deliveries are served for; others cannot be created. */
  available: AvailableOutputs,
  health: OutputHealthParts,
): Route[] {
  const { records } = common;
  const service = new OutputConnectors(records);
  const { missingSetting } = available;
  const viewed = (headers: IncomingHttpHeaders) => ({
    ...common.viewOptions(headers),
    missingSetting,
  });
  return common.crud(outputConnectors, {
    kind: 'outputConnector',
    list: async ({ query, headers }, principal) => {
      const { search, scope, global } = query;
      const types = listOf(query, 'type');
      const filter = { ...listScopeOf(query), search, scope, global, types };
      const viewer = { principal, viewOptions: viewed(headers) };
      const page = await service.list(viewer, filter, pageRequestOf(query));
      return withHealth(query, page, (ids) => healthOfOutputs(records, principal, ids, health));
    },
    create: (step, { body, headers }) =>
      new OutputConnectors(step).create(viewed(headers), available, body),
    read: (id, { headers }) => service.read(viewed(headers), id),
    update: (id, { body, headers }) => service.update(viewed(headers), available, id, body),
    remove: (id) => service.remove(id),
  });
}
