// Routes of downlinks (contract 17, 35).
import { downlinkDraft, downlinkListQuery, downlinkSchema } from '../../contract/downlink.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { deviceEventSchema } from '../../contract/device-event.ts';
import { idParams, list } from '../../contract/record-fields.ts';
import { deviceEvents, type EventSources } from '../../flows/device-events.ts';
import type { DownlinkCause } from '../../flows/downlink.ts';
import { listDownlinks } from '../../inventory/devices/downlinks.ts';
import type { DownlinkCommand } from '../../model/downlink.ts';
import type { Json } from '../../model/json.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { idempotencyKeyOf } from '../edge/idempotency-key.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, type RecordParts } from './record-parts.ts';

const tag = 'Downlinks';
const bodyBytesMax = 1024 * 1024;

export interface DownlinkParts extends RecordParts {
  readonly sendDownlink: (
    deviceId: string,
    command: DownlinkCommand,
    cause: DownlinkCause,
  ) => Promise<unknown>;
  readonly newId: () => string;
  /** Resolves when what was noted so far can be read. */
  readonly settled: () => Promise<void>;
  readonly eventSources: EventSources;
}

export function downlinkRoutes(parts: DownlinkParts): Route[] {
  return [
    guardedRoute({
      method: 'POST',
      path: '/v3/devices/:id/downlink',
      summary: 'Send a downlink to a device, through the encoder of its type unless it is raw',
      tag,
      access: { scope: 'asset', verb: 'update', place: byId(parts, 'device') },
      params: idParams,
      body: downlinkDraft,
      status: 204,
      bodyBytesMax,
      handle: async ({ params, body, headers, path }, principal) => {
        const correlationId = parts.newId();
        const key = idempotencyKeyOf(headers);
        if (key === undefined) await parts.sendDownlink(params.id, body, { correlationId });
        else {
          const call = { credential: principal.id, route: `POST ${path}`, key, body: body as Json };
          await parts.once.stored(call, async ({ duplicateKey, firstSeenAt }) => {
            // A retry after a crash makes downlinks of the same ids, which are queued once.
            const idempotencyKey = `${duplicateKey('')} ${firstSeenAt}`;
            await parts.sendDownlink(params.id, body, { correlationId, idempotencyKey });
            return { status: 204, body: null };
          });
        }
        return undefined;
      },
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/devices/:id/downlinks',
      summary: 'The downlinks of a device and what became of them, newest first',
      tag,
      access: { scope: 'asset', verb: 'read', place: byId(parts, 'device') },
      params: idParams,
      query: downlinkListQuery,
      response: pageSchema(downlinkSchema),
      handle: ({ params, query }) =>
        listDownlinks(
          parts.records,
          { deviceId: params.id, state: query.state },
          pageRequestOf(query),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/devices/:id/events',
      summary:
        'What happened to a device lately: the last hundred uplinks, downlinks, outputs and rules, newest first',
      tag: 'Devices',
      access: { scope: 'asset', verb: 'read', place: byId(parts, 'device') },
      params: idParams,
      response: list(deviceEventSchema),
      handle: async ({ params }) => {
        // A failure to write is told by the one who writes; what is there can still be read.
        await parts.settled().catch(() => undefined);
        return deviceEvents(params.id, parts.eventSources);
      },
    }),
  ];
}
