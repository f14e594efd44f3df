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
    summary: 'List raw uplinks',
    description:
      'Returns payloads exactly as the device sent them, newest first, for as long as `RAW_UPLINK_RETENTION` keeps them.',
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
    summary: 'Replay a decoder',
    description:
      'Runs a decoder on recent raw uplinks and compares the result with the stored samples; stores nothing.',
    tag: 'Device types',
    access: { scope: 'deviceType', verb: 'read', resource: 'path' },
    params: idParams,
    body: replayRequest,
    needsAlso: 'Also requires `asset` `update` on the devices.',
    response: replaySchema,
    bodyBytesMax,
  }),
} as const;
