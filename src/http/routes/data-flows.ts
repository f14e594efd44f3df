// Routes of data flows (contract 10).
import type { IncomingHttpHeaders } from 'node:http';
import { dataFlows } from '../../contract/data-flows.ts';
import { DataFlows } from '../../inventory/data-flows/data-flows.ts';
import { type FlowHealthParts, healthOfFlows } from '../../inventory/health/health.ts';
import type { Principal } from '../../model/principal.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import { withVendorEncodings } from './connector-view-options.ts';
import { type RecordRoutes, withHealth } from './record-routes.ts';
import { deviceConnectors, integrations } from '../../contract/device-connectors.ts';
import { DeviceConnectors } from '../../inventory/data-flows/device-connectors.ts';
import { type CheckHost, Integrations } from '../../inventory/data-flows/integrations.ts';

/** Of data flows and of device connectors. */
export function dataFlowRoutes(common: RecordRoutes, health: FlowHealthParts): Route[] {
  return withVendorEncodings(common.aliased, [
    ...flowRoutes(common, health),
    ...deviceConnectorRoutes(common),
  ]);
}

function flowRoutes(common: RecordRoutes, health: FlowHealthParts): Route[] {
  const { records } = common;
  const service = new DataFlows(records);
  const viewer = (headers: IncomingHttpHeaders, principal: Principal) => ({
    principal,
    viewOptions: common.viewOptions(headers),
  });
  return common.crud(dataFlows, {
    kind: 'dataFlow',
    list: async ({ query, headers }, principal) => {
      const filter = { ...listScopeOf(query), search: query.search };
      const shown = viewer(headers, principal);
      const page = await service.list(shown, filter, pageRequestOf(query));
      return withHealth(query, page, (ids) => healthOfFlows(records, principal, ids, health));
    },
    create: (step, { body, headers }, principal) =>
      new DataFlows(step).create(viewer(headers, principal), body),
    read: (id, { headers }, principal) => service.read(viewer(headers, principal), id),
    update: (id, { body, headers }, principal) =>
      service.update(viewer(headers, principal), id, body),
    remove: (id) => service.remove(id),
  });
}

// Routes of device connectors (contract 8).

function deviceConnectorRoutes(common: RecordRoutes): Route[] {
  const { records, aliased } = common;
  const service = new DeviceConnectors(records);
  return common.crud(deviceConnectors, {
    kind: 'deviceConnector',
    list: ({ query }, principal) =>
      service.list(
        principal,
        { ...listScopeOf(query), search: query.search },
        pageRequestOf(query),
      ),
    create: (step, { body }, principal) => new DeviceConnectors(step).create(principal, body),
    read: (id, _input, principal) => service.read(principal, id),
    update: (id, { body, headers }, principal) =>
      service.update(principal, id, body, aliased(headers)),
    remove: (id) => service.remove(id),
  });
}

// Routes of integrations with network servers (contract 35).

export function integrationRoutes(common: RecordRoutes, checkHost: CheckHost): Route[] {
  const { records } = common;
  const service = new Integrations(records);
  return common.crud(integrations, {
    kind: 'integration',
    createIn: (body, principal) => service.placeOfNew(principal, body),
    list: ({ query }, principal) =>
      service.list(
        principal,
        { ...listScopeOf(query), search: query.search },
        pageRequestOf(query),
      ),
    create: (step, { body }, principal) =>
      new Integrations(step).create(principal, checkHost, body),
    read: (id, _input, principal) => service.read(principal, id),
    update: (id, { body }, principal) => service.update(principal, checkHost, id, body),
    remove: (id) => service.remove(id),
  });
}
