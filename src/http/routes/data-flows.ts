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
import { withVendorEncodings } from './connector-view-options.ts';
import { type RecordRoutes, withHealth } from './record-routes.ts';
import { deviceConnectors, integrations } from '../../contract/device-connectors.ts';
import {
  createDeviceConnector,
  deleteDeviceConnector,
  listDeviceConnectors,
  readDeviceConnector,
  updateDeviceConnector,
} from '../../inventory/data-flows/device-connectors.ts';
import {
  type CheckHost,
  createIntegration,
  deleteIntegration,
  listIntegrations,
  placeOfNewIntegration,
  readIntegration,
  updateIntegration,
} from '../../inventory/data-flows/integrations.ts';

/** Of data flows and of device connectors. */
export function dataFlowRoutes(common: RecordRoutes, health: FlowHealthParts): Route[] {
  return withVendorEncodings(common.aliased, [
    ...flowRoutes(common, health),
    ...deviceConnectorRoutes(common),
  ]);
}

function flowRoutes(common: RecordRoutes, health: FlowHealthParts): Route[] {
  const { records } = common;
  const viewer = (headers: IncomingHttpHeaders, principal: Principal) => ({
    principal,
    viewOptions: common.viewOptions(headers),
  });
  return common.crud(dataFlows, {
    kind: 'dataFlow',
    list: async ({ query, headers }, principal) => {
      const filter = { ...listScopeOf(query), search: query.search };
      const shown = viewer(headers, principal);
      const page = await listDataFlows(records, shown, filter, pageRequestOf(query));
      return withHealth(query, page, (ids) => healthOfFlows(records, principal, ids, health));
    },
    create: (step, { body, headers }, principal) =>
      createDataFlow(step, viewer(headers, principal), body),
    read: (id, { headers }, principal) => readDataFlow(records, viewer(headers, principal), id),
    update: (id, { body, headers }, principal) =>
      updateDataFlow(records, viewer(headers, principal), id, body),
    remove: (id) => deleteDataFlow(records, id),
  });
}

// Routes of device connectors (contract 8).

function deviceConnectorRoutes(common: RecordRoutes): Route[] {
  const { records, aliased } = common;
  return common.crud(deviceConnectors, {
    kind: 'deviceConnector',
    list: ({ query }, principal) =>
      listDeviceConnectors(
        records,
        principal,
        { ...listScopeOf(query), search: query.search },
        pageRequestOf(query),
      ),
    create: (step, { body }, principal) => createDeviceConnector(step, principal, body),
    read: (id, _input, principal) => readDeviceConnector(records, principal, id),
    update: (id, { body, headers }, principal) =>
      updateDeviceConnector(records, principal, id, body, aliased(headers)),
    remove: (id) => deleteDeviceConnector(records, id),
  });
}

// Routes of integrations with network servers (contract 35).

export function integrationRoutes(common: RecordRoutes, checkHost: CheckHost): Route[] {
  const { records } = common;
  return common.crud(integrations, {
    kind: 'integration',
    createIn: (body, principal) => placeOfNewIntegration(records, principal, body),
    list: ({ query }, principal) =>
      listIntegrations(
        records,
        principal,
        { ...listScopeOf(query), search: query.search },
        pageRequestOf(query),
      ),
    create: (step, { body }, principal) => createIntegration(step, principal, checkHost, body),
    read: (id, _input, principal) => readIntegration(records, principal, id),
    update: (id, { body }, principal) => updateIntegration(records, principal, checkHost, id, body),
    remove: (id) => deleteIntegration(records, id),
  });
}
