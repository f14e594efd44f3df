// Devices of rules: a device that does not exist or cannot be read has no route, and rules go on without it.
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import { Problem } from '../model/problem.ts';
import { UnreadableRecord } from '../model/errors.ts';

/** The look-up rejects only with errors of the server itself. */
export function createRuleDeviceLookup({
  findRoute,
  failed,
}: {
  /** Throws Problem 404. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  /** Called for a device whose records cannot be read. */
  readonly failed: (what: string, error: unknown) => void;
}): (deviceId: string) => Promise<UplinkRoute | undefined> {
  return async (deviceId) => {
    try {
      return await findRoute(deviceId);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return undefined;
      if (!(error instanceof UnreadableRecord)) throw error;
      failed(`reading device ${deviceId} for rules`, error);
      return undefined;
    }
  };
}
