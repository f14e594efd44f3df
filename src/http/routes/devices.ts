// Routes of devices and their processing log (contract 4, 27).
import type { IncomingHttpHeaders } from 'node:http';
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { deviceConfigurations, deviceCredentials, devices } from '../../contract/devices.ts';
import { vendorDevice, Devices, DeviceCredentials } from '../../inventory/devices/devices.ts';
import {
  deregisterDeleted,
  type Deregistration,
  type TellNetworkServer,
} from '../../inventory/devices/registration.ts';
import { readProcessingLog } from '../../inventory/devices/downlinks.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { Answer, resourceRoute, route, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';
import {
  type PushConfiguration,
  DeviceConfigurations,
} from '../../inventory/devices/device-configurations.ts';
import { deviceFiles } from '../../contract/device-files.ts';
import { exportDevices, readDeviceFile } from '../../inventory/imports/device-file.ts';
import { importDevices, importReport } from '../../inventory/imports/device-import.ts';
import { listReach } from '../../inventory/list-scope.ts';
import { readOperation } from '../../inventory/operations/operations.ts';
import { sha256Of } from '../../inventory/workspaces/blobs.ts';
import { problem } from '../../model/problem.ts';
import { bytesOf, uploadedFile } from '../edge/request-body.ts';

const reasonMax = 500;

export function deviceRoutes(
  common: RecordRoutes,
  /** Deletes the samples of a deleted device. */
  dropSamples: (deviceId: string) => Promise<void>,
  /** Who tells network servers; undefined until they are connected. */
  networkServers: () => TellNetworkServer | undefined,
): Route[] {
  const { records } = common;
  const service = new Devices(records);
  return [
    resourceRoute(devices.create, common.byWorkspace, async (input, principal) => {
      const created = await common.createdOnce(
        input,
        principal,
        (step) => new Devices(step).create(principal, input.body),
        (id) => service.read(principal, id),
      );
      return shown(common, input.headers, created);
    }),
    route(devices.readByDeviceId, async ({ query, headers }, principal) =>
      shown(common, headers, await service.readByDeviceId(principal, query.deviceId)),
    ),
    resourceRoute(devices.read, common.byId('device'), async ({ params, headers }, principal) =>
      shown(common, headers, await service.read(principal, params.id)),
    ),
    resourceRoute(
      devices.update,
      common.byId('device'),
      async ({ params, body, headers }, principal) =>
        shown(common, headers, await service.update(principal, params.id, body)),
    ),
    resourceRoute(devices.remove, common.byId('device'), async ({ params }) => {
      const told = await deregisterDeleted(records, params.id, networkServers());
      await service.remove(params.id);
      await dropSamples(params.id);
      return new Answer<undefined>(204, undefined, deregistrationHeaders(told));
    }),
    processingLogRoute(common),
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
  { aliased }: RecordRoutes,
  headers: IncomingHttpHeaders,
  device: Awaited<ReturnType<Devices['read']>>,
) {
  return aliased(headers) ? vendorDevice(device) : device;
}

function processingLogRoute(common: RecordRoutes): Route {
  return resourceRoute(devices.processingLog, common.byId('device'), ({ params, query }) => {
    const { from, to, level } = query;
    return readProcessingLog(
      common.records,
      { deviceId: params.id, from, to, level },
      pageRequestOf(query),
    );
  });
}

// Routes of device credentials (contract 11).

export function deviceCredentialRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new DeviceCredentials(records);
  const place = common.byId('device');
  return [
    resourceRoute(deviceCredentials.list, place, ({ params }) => service.list(params.id)),
    resourceRoute(deviceCredentials.create, place, (input, principal) =>
      common.answeredOnce(input, principal, (step) =>
        new DeviceCredentials(step).create(input.params.id, input.body),
      ),
    ),
    resourceRoute(deviceCredentials.remove, place, ({ params }) =>
      service.remove(params.id, params.credentialId),
    ),
  ];
}

// Routes of device configurations (contract 12).

/** `push` is absent while no transport can reach devices. */
export function deviceConfigurationRoutes(common: RecordRoutes, push?: PushConfiguration): Route[] {
  const { records } = common;
  const service = new DeviceConfigurations(records);
  const byDevice = common.byId('device');
  return [
    resourceRoute(deviceConfigurations.list, byDevice, ({ params, query }) =>
      service.list(params.id, pageRequestOf(query)),
    ),
    resourceRoute(deviceConfigurations.create, byDevice, (input, principal) =>
      common.answeredOnce(input, principal, (step) =>
        new DeviceConfigurations(step).create(input.params.id, input.body),
      ),
    ),
    resourceRoute(deviceConfigurations.latest, byDevice, ({ params }) =>
      service.read(params.id, 'latest'),
    ),
    resourceRoute(deviceConfigurations.read, byDevice, ({ params }) =>
      service.read(params.id, params.version),
    ),
    resourceRoute(deviceConfigurations.remove, byDevice, ({ params }) =>
      service.remove(params.id, params.version),
    ),
    resourceRoute(deviceConfigurations.push, byDevice, ({ params }) =>
      service.push(params.id, push),
    ),
  ];
}

// Routes of device import and export (contract 4).

/** `startOperation` begins the work of an accepted operation. */
export function deviceFileRoutes(
  common: RecordRoutes,
  startOperation: (id: string) => void,
): Route[] {
  return [exportRoute(common), importRoute(common, startOperation)];
}

function exportRoute({ records }: RecordRoutes): Route {
  return route(deviceFiles.export, async ({ query }, principal) => {
    const { workspaceId, format = 'csv' } = query;
    const { organizationId } = await listReach(records, principal, {
      workspaceIds: [workspaceId],
    });
    const pieces = exportDevices(records, { organizationId, workspaceId }, format);
    return new Answer(200, Readable.from(pieces), {
      'content-type':
        format === 'csv' ? 'text/csv; charset=utf-8' : 'application/json; charset=utf-8',
      'content-disposition': `attachment; filename="devices.${format}"`,
    });
  });
}

function importRoute(common: RecordRoutes, startOperation: (id: string) => void): Route {
  const { records } = common;
  return route(deviceFiles.import, async (input, principal) => {
    const { query, body, headers } = input;
    const { workspaceId, mode = 'create', dryRun = false } = query;
    const reach = { workspaceIds: [workspaceId] };
    await listReach(records, principal, reach, ['asset', 'create']);
    if (mode === 'upsert') await listReach(records, principal, reach, ['asset', 'update']);
    const file = uploadedFile(headers['content-type'], await bytesOf(body), undefined);
    const format = formatOf(file);
    const sha256 = sha256Of(file.content);
    const read = await readDeviceFile(utf8Of(file.content), format);
    const into = { workspaceId, mode };
    if (dryRun) {
      // `otherAnswers` describes it.
      return new Answer(200, (await importReport(records, principal, into, read)) as never);
    }
    const operation = await common.createdOnce(
      { ...input, body: { ...query, sha256 } },
      principal,
      (step) => importDevices(step, principal, into, read),
      (id) => readOperation(records, id),
    );
    startOperation(operation.id);
    return operation;
  });
}

function utf8Of(content: Uint8Array): Uint8Array {
  if (!isUtf8(content)) throw problem('invalidRequest', { reason: 'The file is not valid UTF-8' });
  return content;
}

function formatOf({
  contentType,
  name,
}: {
  readonly contentType: string | undefined;
  readonly name: string;
}) {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json' || name.endsWith('.json')) return 'json';
  if (type === 'text/csv' || type === 'application/csv' || name.endsWith('.csv')) return 'csv';
  throw problem('unsupportedMediaType', {
    contentType: type ?? 'none',
    supported: 'application/json or text/csv',
  });
}
