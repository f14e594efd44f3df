// Route of the trace of an uplink (contract 39.3).
import { deviceTrace } from '../../contract/device-trace.ts';
import { formatInstantOrNull, restorePlus } from '../../model/instant.ts';
import { holds } from '../../model/principal.ts';
import { parseOptionalBound } from '../../model/timestamp.ts';
import { traceDevice, type TraceParts } from '../../uplinks/device-trace.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-routes.ts';

interface DeviceTraceParts extends Pick<RecordParts, 'records'> {
  readonly trace: TraceParts;
  /** Resolves when rules and outputs of the organization have seen what was acknowledged. */
  readonly settled: (organizationId: string) => Promise<void>;
}

export function deviceTraceOf(parts: DeviceTraceParts): Route {
  const { trace, settled } = parts;
  return resourceRoute(
    deviceTrace.read,
    byId(parts, 'device'),
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
