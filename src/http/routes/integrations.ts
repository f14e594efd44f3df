// Routes of integrations with network servers (contract 35).
import { integrations } from '../../contract/integrations.ts';
import {
  type CheckHost,
  createIntegration,
  deleteIntegration,
  listIntegrations,
  placeOfNewIntegration,
  readIntegration,
  updateIntegration,
} from '../../inventory/data-flows/integrations.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import type { RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function integrationRoutes(parts: RecordParts & { readonly checkHost: CheckHost }): Route[] {
  const { records, checkHost } = parts;
  return recordRoutes(parts, integrations, {
    kind: 'integration',
    createIn: (body, principal) => placeOfNewIntegration(records, principal, body),
    list: ({ query }, principal) =>
      listIntegrations(
        records,
        principal,
        { ...listScopeOf(query), search: query.search },
        pageRequestOf(query),
      ),
    create: (step, { body }, principal) => createIntegration(step, { principal, checkHost }, body),
    read: (id, _input, principal) => readIntegration(records, principal, id),
    update: (id, { body }, principal) =>
      updateIntegration(records, { principal, checkHost }, id, body),
    remove: (id) => deleteIntegration(records, id),
  });
}
