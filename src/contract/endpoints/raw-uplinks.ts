// Endpoints of raw uplinks and the dry run of a decoder (contract 35).
import { endpoint } from '../endpoint.ts';
import { pageSchema } from '../page-envelope.ts';
import { rawUplinkQuery, rawUplinkSchema, replayRequest, replaySchema } from '../raw-uplink.ts';
import { idParams } from '../record-fields.ts';

// A source of 1 MiB, escaped in JSON at worst sixfold, still fits.
const bodyBytesMax = 8 * 1024 * 1024;

export const rawUplinks = {
  list: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/uplinks',
    summary: 'What a device sent, as it sent it, newest first; kept for RAW_UPLINK_RETENTION',
    tag: 'Devices',
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    params: idParams,
    query: rawUplinkQuery,
    response: pageSchema(rawUplinkSchema),
  }),
  replay: endpoint({
    method: 'POST',
    path: '/v3/device-types/:id/replay',
    ownBody: true,
    summary:
      'Try a decoder on the last real uplinks: old and new samples side by side, nothing is stored',
    tag: 'Device types',
    access: { scope: 'deviceType', verb: 'read', resource: 'path' },
    params: idParams,
    body: replayRequest,
    needsAlso: 'Also `asset` `update` for the devices.',
    response: replaySchema,
    bodyBytesMax,
  }),
} as const;
