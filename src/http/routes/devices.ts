// Routes of devices and their processing log (contract 4, 27).
import type { IncomingHttpHeaders } from 'node:http';
import { devices } from '../../contract/devices.ts';
import {
  createDevice,
  deleteDevice,
  readDevice,
  readDeviceByDeviceId,
  updateDevice,
} from '../../inventory/devices/devices.ts';
import {
  deregisterDeleted,
  type Deregistration,
  type TellNetworkServer,
} from '../../inventory/devices/registration.ts';
import { readProcessingLog } from '../../inventory/devices/downlinks.ts';
import { vendorDevice } from '../../inventory/devices/device-view.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { Answer, resourceRoute, type Route, route } from '../edge/route.ts';
import { createdOnce } from './create-once.ts';
import { byId, byWorkspace, type RecordParts } from './record-parts.ts';

const reasonMax = 500;

interface DeviceParts extends RecordParts {
  /** Deletes the samples of a deleted device. */
  readonly dropSamples: (deviceId: string) => Promise<void>;
  /** Who tells network servers; undefined until they are connected. */
  readonly networkServers: () => TellNetworkServer | undefined;
  /** Whether an answer to these headers is for clients of old (contract 34). */
  readonly aliased: (headers: IncomingHttpHeaders) => boolean;
}

export function deviceRoutes(parts: DeviceParts): Route[] {
  const { records } = parts;
  return [
    resourceRoute(devices.create, byWorkspace(parts), async (input, principal) => {
      const created = await createdOnce(
        parts,
        { input, principal },
        (step) => createDevice(step, principal, input.body),
        (id) => readDevice(records, principal, id),
      );
      return shown(parts, input.headers, created);
    }),
    route(devices.readByDeviceId, async ({ query, headers }, principal) =>
      shown(parts, headers, await readDeviceByDeviceId(records, principal, query.deviceId)),
    ),
    resourceRoute(devices.read, byId(parts, 'device'), async ({ params, headers }, principal) =>
      shown(parts, headers, await readDevice(records, principal, params.id)),
    ),
    resourceRoute(
      devices.update,
      byId(parts, 'device'),
      async ({ params, body, headers }, principal) =>
        shown(parts, headers, await updateDevice(records, principal, params.id, body)),
    ),
    resourceRoute(devices.remove, byId(parts, 'device'), async ({ params }) => {
      const told = await deregisterDeleted(records, params.id, parts.networkServers());
      await deleteDevice(records, params.id);
      await parts.dropSamples(params.id);
      return new Answer<undefined>(204, undefined, deregistrationHeaders(told));
    }),
    processingLogRoute(parts),
  ];
}

/** The answer has no body, as old clients expect. Headers have no letters beyond ASCII. */
function deregistrationHeaders({ deregistered, reason }: Deregistration) {
  return {
    ...(deregistered !== undefined && { 'x-deregistered': String(deregistered) }),
    ...(reason !== undefined && {
      'x-deregistration-reason': reason.replaceAll(/[^ -~]/g, '?').slice(0, reasonMax),
    }),
  };
}

function shown(
  { aliased }: DeviceParts,
  headers: IncomingHttpHeaders,
  device: Awaited<ReturnType<typeof readDevice>>,
) {
  return aliased(headers) ? vendorDevice(device) : device;
}

function processingLogRoute(parts: RecordParts): Route {
  return resourceRoute(devices.processingLog, byId(parts, 'device'), ({ params, query }) => {
    const { from, to, level } = query;
    return readProcessingLog(
      parts.records,
      { deviceId: params.id, from, to, level },
      pageRequestOf(query),
    );
  });
}
