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
    summary: 'Send a downlink to a device, through the encoder of its type unless it is raw',
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
    summary: 'The downlinks of a device and what became of them, newest first',
    tag,
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: downlinkListQuery,
    response: pageSchema(downlinkSchema),
  }),
  events: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/events',
    summary:
      'What happened to a device lately: the last hundred uplinks, downlinks, outputs and rules, newest first',
    tag: 'Devices',
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    response: list(deviceEventSchema),
  }),
} as const;
