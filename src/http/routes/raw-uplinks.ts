// Routes of raw uplinks, of their trace, and of the dry run of a decoder (contract 35, 39.3).
import type { Static } from 'typebox';
import { deviceTrace, rawUplinks, type replayRequest } from '../../contract/raw-uplinks.ts';
import { DeviceTypes } from '../../inventory/data-flows/device-types.ts';
import { holds, type Principal } from '../../model/principal.ts';
import type { RawUplinkPage, RawUplinkRange } from '../../storage/raw-uplinks/raw-uplink-store.ts';
import { replayLimits, type ReplayReport, type ReplayRequest } from '../../uplinks/decoder-test.ts';
import { listRawUplinks } from '../../uplinks/raw-uplink-list.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import type { DeviceAccess } from './device-access.ts';
import type { RecordRoutes } from './record-routes.ts';
import { formatInstantOrNull, restorePlus } from '../../model/instant.ts';
import { parseOptionalBound } from '../../model/timestamp.ts';
import { traceDevice, type TraceParts } from '../../uplinks/device-trace.ts';
import type { Inventory } from '../../inventory/record-crud.ts';

export function rawUplinkRoutes(
  common: RecordRoutes,
  devices: DeviceAccess,
  listed: (range: RawUplinkRange) => Promise<RawUplinkPage>,
  replay: (request: ReplayRequest) => Promise<ReplayReport>,
): Route[] {
  const { records } = common;
  return [
    resourceRoute(rawUplinks.list, common.byId('device'), ({ params, query }) =>
      listRawUplinks(params.id, query, pageRequestOf(query), listed),
    ),
    resourceRoute(
      rawUplinks.replay,
      common.byId('deviceType'),
      async ({ params, body }, principal) => {
        const [code, deviceIds] = [
          await codeOf(records, params.id, body),
          await devicesOf(records, devices, params.id, body, principal),
        ];
        const { from, to, limit, encoding = null } = body;
        const uplinks = {
          from: from ?? undefined,
          to: to ?? undefined,
          limit: limit ?? replayLimits.uplinksDefault,
        };
        return replay({ code, deviceIds, encoding, ...uplinks });
      },
    ),
  ];
}

type Body = Static<typeof replayRequest>;

async function codeOf(
  records: Inventory,
  typeId: string,
  { uplinkScript }: Body,
): Promise<string | null> {
  if (typeof uplinkScript === 'string') return uplinkScript;
  if (uplinkScript !== undefined && uplinkScript !== null) return uplinkScript.code;
  return (await new DeviceTypes(records).read(typeId)).uplinkScript?.code ?? null;
}

/** Named devices need `asset` `update` (403). Without names, the devices with that permission. */
async function devicesOf(
  records: Inventory,
  { authorize, placeOfDevice }: DeviceAccess,
  typeId: string,
  { deviceId, deviceIds = [] }: Body,
  principal: Principal,
): Promise<readonly string[]> {
  const named = [deviceId ?? [], deviceIds].flat();
  for (const id of named) authorize(principal, 'asset', 'update', await placeOfDevice(id));
  if (named.length > 0) return named;
  return new DeviceTypes(records).devicesOf(principal, typeId, replayLimits.devicesMax);
}

// Route of the trace of an uplink (contract 39.3).

export function deviceTraceOf(
  common: RecordRoutes,
  trace: TraceParts,
  /** Resolves when rules and outputs of the organization have seen what was acknowledged. */
  settled: (organizationId: string) => Promise<void>,
): Route {
  return resourceRoute(
    deviceTrace.read,
    common.byId('device'),
    async ({ params: { id }, query: { at, ...asked } }, principal) => {
      const moment = parseOptionalBound('at', at === undefined ? undefined : restorePlus(at));
      const { device } = await trace.routeOf(id);
      // The workers report their own failures; what is stored can still be read.
      await settled(device.organizationId).catch(() => undefined);
      const reach = {
        rules: holds(principal, 'rule', 'read', device.workspaceId),
        deliveries: holds(principal, 'dataFlow', 'read', device.workspaceId),
      };
      const found = await traceDevice(id, { ...asked, at: moment }, reach, trace);
      const steps = found.steps.map((step) => ({ ...step, at: formatInstantOrNull(step.at) }));
      const { deviceId, name } = device;
      const { verdict } = found;
      return { device: { id, deviceId, name }, at: formatInstantOrNull(found.at), verdict, steps };
    },
  );
}
