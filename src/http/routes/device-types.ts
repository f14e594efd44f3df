// Routes of device types and of the device type library (contract 7).
import type { Static } from 'typebox';
import {
  deviceTypeLibrary,
  deviceTypes,
  type scriptPayload,
  scripts,
} from '../../contract/device-types.ts';
import { DeviceTypes } from '../../inventory/data-flows/device-types.ts';
import { type FlowHealthParts, healthOfDeviceTypes } from '../../inventory/health/health.ts';
import { importLibrary } from '../../inventory/imports/library-import.ts';
import { type DeviceTypeKind, deviceTypeKinds } from '../../model/device-type.ts';
import { listOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, route, type Route } from '../edge/route.ts';
import { withVendorEncodings } from './connector-view-options.ts';
import { byOrganization, type RecordRoutes, withHealth } from './record-routes.ts';
import { isJsonObject, type Json } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { readPayload } from '../../transports/payload-reader.ts';

export function deviceTypeRoutes(common: RecordRoutes, health: FlowHealthParts): Route[] {
  const { records, now, aliased } = common;
  const service = new DeviceTypes(records);
  const crud = common.crud(deviceTypes, {
    kind: 'deviceType',
    createIn: byOrganization,
    list: async ({ query }, principal) => {
      const filter = { ...query, types: kindsOf(query), details: query.details === true };
      const page = await service.list(principal, filter, pageRequestOf(query));
      return withHealth(query, page, (ids) => healthOfDeviceTypes(records, principal, ids, health));
    },
    create: (step, { body }) => new DeviceTypes(step).create(body, now()),
    read: (id) => service.read(id),
    update: (id, { body, headers }) => service.update(id, body, now(), aliased(headers)),
    remove: (id) => service.remove(id),
  });
  return [...withVendorEncodings(aliased, crud), libraryRoute(common)];
}

function kindsOf(query: object): DeviceTypeKind[] | undefined {
  const names = listOf(query, 'types')?.map((name) => name.toLowerCase());
  return names && deviceTypeKinds.filter((kind) => names.includes(kind));
}

// Route of the device type library (contract 7).

function libraryRoute({ records }: RecordRoutes): Route {
  return resourceRoute(
    deviceTypeLibrary.import,
    byOrganization,
    ({ body: { organizationId, files, pictures = {} } }) => {
      const library = {
        files: new Map(Object.entries(files)),
        pictures: new Map(Object.entries(pictures)),
      };
      return importLibrary(records, organizationId, library);
    },
  );
}

// Route of script runs, whose events have no effect (interface 4.8, contract 16).

export function runScriptRoute(
  runScript: (
    source: string,
    event: Json,
    principal: Principal,
    signal: AbortSignal,
  ) => Promise<readonly { type: string; event: Json }[]>,
): Route {
  return route(scripts.run, async ({ body, signal }, principal) => {
    const { script, event = {}, payload } = body;
    const full = payload === undefined ? event : eventWith(event, payload);
    return [...(await runScript(script, full, principal, signal))];
  });
}

/** As the decoder of a device would get the payload (contract 38). */
function eventWith(event: Json, payload: Static<typeof scriptPayload>): Json {
  const { hex, text, encoding = null, contentType, port } = payload;
  if ((hex === undefined) === (text === undefined))
    throw problem('invalidRequest', { reason: 'body payload: must have either hex or text' });
  if (!isJsonObject(event))
    throw problem('invalidRequest', { reason: 'body event: must be an object with a payload' });
  const bytes = hex === undefined ? Buffer.from(text ?? '') : Buffer.from(hex, 'hex');
  const read = readPayload(bytes, {
    encoding,
    contentType: contentType ?? undefined,
    port: port === undefined || port === null ? undefined : String(port),
  });
  const data = isJsonObject(read.body) ? read.body : { values: read.body };
  return { ...event, data, encoding: read.encoding };
}
