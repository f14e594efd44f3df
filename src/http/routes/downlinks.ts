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
import { byId, type RecordParts } from './record-routes.ts';

export function downlinkRoutes(
  parts: RecordParts & {
    readonly sendDownlink: (
      deviceId: string,
      command: DownlinkCommand,
      cause: DownlinkCause,
    ) => Promise<unknown>;
    readonly newId: () => string;
    /** Resolves when all entries so far can be read. */
    readonly settled: () => Promise<void>;
    readonly eventSources: EventSources;
  },
): Route[] {
  return [
    resourceRoute(
      downlinks.send,
      byId(parts, 'device'),
      async ({ params, body, headers, path }, principal) => {
        const correlationId = parts.newId();
        const key = idempotencyKeyOf(headers);
        if (key === undefined) await parts.sendDownlink(params.id, body, { correlationId });
        else {
          const call = { credential: principal.id, route: `POST ${path}`, key, body: body as Json };
          await parts.once.stored(call, async ({ duplicateKey, firstSeenAt }) => {
            // A retry after a crash creates downlinks with the same ids, which are queued once.
            const idempotencyKey = `${duplicateKey('')} ${firstSeenAt}`;
            await parts.sendDownlink(params.id, body, { correlationId, idempotencyKey });
            return { status: 204, body: null };
          });
        }
        return undefined;
      },
    ),
    resourceRoute(downlinks.list, byId(parts, 'device'), ({ params, query }) =>
      listDownlinks(
        parts.records,
        { deviceId: params.id, state: query.state },
        pageRequestOf(query),
      ),
    ),
    resourceRoute(downlinks.events, byId(parts, 'device'), async ({ params }) => {
      // The writer reports its own failures. Stored entries can still be read.
      await parts.settled().catch(() => undefined);
      return deviceEvents(params.id, parts.eventSources);
    }),
  ];
}
