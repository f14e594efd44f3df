// Routes of device configurations (contract 12).
import { deviceConfigurations } from '../../contract/device-configurations.ts';
import {
  createDeviceConfiguration,
  deleteDeviceConfiguration,
  listDeviceConfigurations,
  type PushConfiguration,
  pushDeviceConfiguration,
  readDeviceConfiguration,
} from '../../inventory/devices/device-configurations.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { answeredOnce } from './create-once.ts';
import { byId, type RecordParts } from './record-parts.ts';

interface ConfigurationParts extends RecordParts {
  /** Absent while no transport can reach devices. */
  readonly push?: PushConfiguration;
}

export function deviceConfigurationRoutes(parts: ConfigurationParts): Route[] {
  const { records } = parts;
  const byDevice = byId(parts, 'device');
  return [
    resourceRoute(deviceConfigurations.list, byDevice, ({ params, query }) =>
      listDeviceConfigurations(records, params.id, pageRequestOf(query)),
    ),
    resourceRoute(deviceConfigurations.create, byDevice, (input, principal) =>
      answeredOnce(parts, { input, principal }, (step) =>
        createDeviceConfiguration(step, input.params.id, input.body),
      ),
    ),
    resourceRoute(deviceConfigurations.latest, byDevice, ({ params }) =>
      readDeviceConfiguration(records, params.id, 'latest'),
    ),
    resourceRoute(deviceConfigurations.read, byDevice, ({ params }) =>
      readDeviceConfiguration(records, params.id, params.version),
    ),
    resourceRoute(deviceConfigurations.remove, byDevice, ({ params }) =>
      deleteDeviceConfiguration(records, params.id, params.version),
    ),
    pushRoute(parts),
  ];
}

function pushRoute(parts: ConfigurationParts): Route {
  return resourceRoute(deviceConfigurations.push, byId(parts, 'device'), ({ params }) =>
    pushDeviceConfiguration(parts.records, params.id, parts.push),
  );
}
