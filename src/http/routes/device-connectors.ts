// Routes of device connectors and of refused uplinks (contract 8, 39.3).
import { deviceConnectors } from '../../contract/device-connectors.ts';
import { refusals } from '../../contract/refusals.ts';
import {
  createDeviceConnector,
  deleteDeviceConnector,
  forgetRefusals,
  listDeviceConnectors,
  readDeviceConnector,
  readRefusals,
  updateDeviceConnector,
} from '../../inventory/data-flows/device-connectors.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import type { ViewOptionsParts } from './connector-view-options.ts';
import { byId, type RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function deviceConnectorRoutes(
  parts: RecordParts & Pick<ViewOptionsParts, 'aliased'>,
): Route[] {
  const { records, aliased } = parts;
  return recordRoutes(parts, deviceConnectors, {
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

// Routes of refused uplinks (contract 39.3).

export function refusalRoutes(parts: Pick<RecordParts, 'records'>): Route[] {
  const { records } = parts;
  const ofConnector = byId(parts, 'deviceConnector');
  const ofWorkspace = byId(parts, 'workspace');
  return [
    resourceRoute(refusals.listOfConnector, ofConnector, ({ params: { id }, query }) =>
      readRefusals(records, { connectorId: id }, pageRequestOf(query)),
    ),
    resourceRoute(refusals.listOfWorkspace, ofWorkspace, ({ params: { id }, query }) =>
      readRefusals(records, { workspaceId: id }, pageRequestOf(query)),
    ),
    resourceRoute(refusals.clearConnector, ofConnector, ({ params: { id } }) =>
      forgetRefusals(records, { connectorId: id }),
    ),
    resourceRoute(refusals.clearWorkspace, ofWorkspace, ({ params: { id } }) =>
      forgetRefusals(records, { workspaceId: id }),
    ),
    resourceRoute(refusals.removeOfConnector, ofConnector, ({ params: { id, refusalId } }) =>
      forgetRefusals(records, { connectorId: id }, refusalId),
    ),
    resourceRoute(refusals.removeOfWorkspace, ofWorkspace, ({ params: { id, refusalId } }) =>
      forgetRefusals(records, { workspaceId: id }, refusalId),
    ),
  ];
}
