// Routes of downlinks (contract 17, 35).
import { downlinks } from '../../contract/downlinks.ts';
import { deviceEvents, type EventSources } from '../../uplinks/device-events.ts';
import type { DownlinkCause } from '../../downlinks/downlink.ts';
import { listDownlinks } from '../../inventory/devices/downlinks.ts';
import type { DownlinkCommand } from '../../model/downlink.ts';
import type { Json } from '../../model/json.ts';
import { idempotencyKeyOf } from '../edge/admission.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

export function downlinkRoutes(
  common: RecordRoutes,
  sendDownlink: (
    deviceId: string,
    command: DownlinkCommand,
    cause: DownlinkCause,
  ) => Promise<unknown>,
  newId: () => string,
  /** Resolves when all entries so far can be read. */
  settled: () => Promise<void>,
  eventSources: EventSources,
): Route[] {
  return [
    resourceRoute(
      downlinks.send,
      common.byId('device'),
      async ({ params, body, headers, path }, principal) => {
        const correlationId = newId();
        const key = idempotencyKeyOf(headers);
        if (key === undefined) await sendDownlink(params.id, body, { correlationId });
        else {
          const call = { credential: principal.id, route: `POST ${path}`, key, body: body as Json };
          await common.once.stored(call, async ({ duplicateKey, firstSeenAt }) => {
            // A retry after a crash creates downlinks with the same ids, which are queued once.
            const idempotencyKey = `${duplicateKey('')} ${firstSeenAt}`;
            await sendDownlink(params.id, body, { correlationId, idempotencyKey });
            return { status: 204, body: null };
          });
        }
        return undefined;
      },
    ),
    resourceRoute(downlinks.list, common.byId('device'), ({ params, query }) =>
      listDownlinks(
        common.records,
        { deviceId: params.id, state: query.state },
        pageRequestOf(query),
      ),
    ),
    resourceRoute(downlinks.events, common.byId('device'), async ({ params }) => {
      // The writer reports its own failures. Stored entries can still be read.
      await settled().catch(() => undefined);
      return deviceEvents(params.id, eventSources);
    }),
  ];
}
