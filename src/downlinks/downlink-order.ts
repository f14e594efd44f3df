// Downlink order: an output of one device sends a downlink to a device of the same workspace (contract 9).
import type { OrderDownlink } from '../outputs/connectors/connector-services.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { DownlinkCommand } from '../model/downlink.ts';
import { problem } from '../model/problem.ts';
import type { DownlinkCause } from './downlink.ts';

/**
 * The order throws Problem 404 for a device of another workspace than that of the device that
 * triggered it.
 */
export function createDownlinkOrders({
  findRoute,
  send,
}: {
  /** Throws Problem 404. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  readonly send: (
    deviceId: string,
    command: DownlinkCommand,
    cause: DownlinkCause,
  ) => Promise<unknown>;
}): OrderDownlink {
  return async ({ from, to, command, correlationId, idempotencyKey }) => {
    const source = await findRoute(from);
    const target = await findRoute(to);
    if (source.device.workspaceId !== target.device.workspaceId)
      throw problem('notFound', { what: 'device', id: to });
    await send(to, command, { correlationId, idempotencyKey });
  };
}
