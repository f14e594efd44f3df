// Composes the routes: each gets the functions that it uses, and nothing more.
import type { IncomingHttpHeaders } from 'node:http';
import { authorize } from './access/authorize.ts';
import type { Parts } from './compose.ts';
import type { Uplinks } from './compose-uplinks.ts';
import { captureRoute } from './http/routes/capture.ts';
import type { DeviceAccess } from './http/routes/device-access.ts';
import { healthRoutes } from './http/routes/health.ts';
import { kpiQueryRoutes } from './http/routes/kpi-queries.ts';
import { runScriptRoute } from './http/routes/run-script.ts';
import { sampleQueryRoutes } from './http/routes/sample-queries.ts';
import { seriesQueryRoutes } from './http/routes/series-queries.ts';
import type { Route } from './http/route.ts';
import { placeOf } from './inventory/places.ts';
import type { Place } from './model/place.ts';
import { openTimeZones } from './model/time-zone.ts';
import { defaultWorkspaceSettings } from './model/workspace.ts';
import type { QueriedDevice } from './query/accumulation.ts';
import type { PublicHolidays } from './query/public-holidays.ts';
import { deviceIdsOfTag } from './store/records/tags.ts';
import { findWorkspace } from './store/records/workspaces.ts';

export interface RouteExtras {
  /** Undefined when ready. */
  readonly notReadyBecause: () => string | undefined;
  readonly publicHolidays: PublicHolidays;
}

export function composeRoutes(parts: Parts, uplinks: Uplinks, extras: RouteExtras): Route[] {
  const { store, telemetry, directory, now } = parts;
  const device = deviceAccess(parts);
  const queries = { ...device, store, now, openZone: openTimeZones(), publicHolidays: extras.publicHolidays };
  return [
    ...healthRoutes({ notReadyBecause: extras.notReadyBecause, metrics: () => telemetry.metrics() }),
    captureRoute({
      admit: (request) => directory.bySecret(request.secret, request.deviceId),
      capture: uplinks.capture,
    }),
    runScriptRoute({ runScript: uplinks.runScript }),
    ...sampleQueryRoutes({
      ...queries,
      declaredSchemas: async (deviceId) => (await directory.byDevice(deviceId)).type?.schemas ?? {},
    }),
    ...kpiQueryRoutes(queries),
    ...seriesQueryRoutes(queries),
  ];
}

/** Whether an answer to these headers carries the names that the older clients read (contract 34, 35). */
function vendorNamed({ config }: Parts): (headers: IncomingHttpHeaders) => boolean {
  if (config.vendorAliases === 'header') return (headers) => headers['akenza-client'] !== undefined;
  return () => config.vendorAliases === 'always';
}

function deviceAccess(parts: Parts): DeviceAccess {
  const { directory, records } = parts;
  const placeOfDevice = async (id: string): Promise<Place> => {
    const { device } = await directory.byDevice(id);
    return { organizationId: device.organizationId, workspaceId: device.workspaceId, what: 'device', id };
  };
  const deviceOf = async (id: string): Promise<QueriedDevice> => {
    const { workspaceId } = (await directory.byDevice(id)).device;
    const workspace = await findWorkspace(records.db, workspaceId);
    return { id, workspaceId, calendar: workspace?.settings ?? defaultWorkspaceSettings };
  };
  return {
    placeOfDevice,
    deviceOf,
    placeOfTag: (id) => placeOf(records, 'tag', id),
    devicesOfTag: async (tagId) => Promise.all((await deviceIdsOfTag(records.db, tagId)).map(deviceOf)),
    authorize,
    aliased: vendorNamed(parts),
  };
}
