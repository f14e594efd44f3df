// Endpoints of downlinks and device events (contract 17).
import { deviceEventSchema } from '../device-event.ts';
import { downlinkDraft, downlinkListQuery, downlinkSchema } from '../downlink.ts';
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams, list } from '../record-fields.ts';

const tag = 'Downlinks';
const bodyBytesMax = 1024 * 1024;

export const downlinks = {
  send: endpoint({
    method: 'POST',
    path: '/v3/devices/:id/downlink',
    summary: 'Send a downlink',
    description:
      "Encodes the command with the device type's downlink encoder and queues it; a raw payload skips the encoder.",
    tag,
    access: { scope: 'asset', verb: 'update', resource: 'path' },
    params: idParams,
    body: downlinkDraft,
    status: 204,
    bodyBytesMax,
  }),
  list: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/downlinks',
    summary: 'List downlinks',
    description: 'Returns the downlinks sent to a device and their delivery state, newest first.',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: downlinkListQuery,
    response: pageSchema(downlinkSchema),
  }),
  events: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/events',
    summary: 'List device events',
    description:
      "Returns the device's last 100 uplinks, downlinks, output deliveries, and rule runs, newest first.",
    tag: 'Devices',
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    response: list(deviceEventSchema),
  }),
} as const;
