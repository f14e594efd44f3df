// Routes of device connectors (contract 8).
import { deviceConnectors } from '../../contract/device-connectors.ts';
import {
  createDeviceConnector,
  deleteDeviceConnector,
  listDeviceConnectors,
  readDeviceConnector,
  updateDeviceConnector,
} from '../../inventory/data-flows/device-connectors.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import type { ViewOptionsParts } from './connector-view-options.ts';
import type { RecordParts } from './record-parts.ts';
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
