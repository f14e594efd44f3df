// Routes of raw uplinks: what a device sent, and a decoder tried on it (contract: raw uplinks, replay; access by contract 35).
import type { Static } from 'typebox';
import { pageSchema } from '../../contract/page-envelope.ts';
import {
  rawUplinkQuery,
  rawUplinkSchema,
  replayRequest,
  replaySchema,
} from '../../contract/raw-uplink.ts';
import { idParams } from '../../contract/record-fields.ts';
import { listRawUplinks } from '../../flows/raw-uplink-list.ts';
import { replayLimits, type ReplayReport, type ReplayRequest } from '../../flows/decoder-test.ts';
import { readDeviceType } from '../../inventory/flows/device-types.ts';
import { devicesOfType } from '../../inventory/flows/devices-of-type.ts';
import type { Principal } from '../../model/principal.ts';
import type { RawUplinkPage, RawUplinkRange } from '../../raw-uplinks/block-reader.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import type { DeviceAccess } from './device-access.ts';
import { byId, type RecordParts } from './record-parts.ts';

// A source of 1 MiB, escaped in JSON at worst sixfold, still fits.
const bodyBytesMax = 8 * 1024 * 1024;

export interface RawUplinkParts
  extends RecordParts,
    Pick<DeviceAccess, 'placeOfDevice' | 'authorize'> {
  readonly list: (range: RawUplinkRange) => Promise<RawUplinkPage>;
  readonly replay: (request: ReplayRequest) => Promise<ReplayReport>;
}

export function rawUplinkRoutes(parts: RawUplinkParts): Route[] {
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/devices/:id/uplinks',
      summary: 'What a device sent, as it sent it, newest first; kept for RAW_UPLINK_RETENTION',
      tag: 'Devices',
      access: { scope: 'asset', verb: 'read', place: byId(parts, 'device') },
      params: idParams,
      query: rawUplinkQuery,
      response: pageSchema(rawUplinkSchema),
      handle: ({ params, query }) =>
        listRawUplinks(params.id, query, pageRequestOf(query), parts.list),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/device-types/:id/replay',
      summary:
        'Try a decoder on the last real uplinks: old and new samples side by side, nothing is stored',
      tag: 'Device types',
      access: { scope: 'deviceType', verb: 'read', place: byId(parts, 'deviceType') },
      params: idParams,
      body: replayRequest,
      needsAlso: 'Also `asset` `update` for the devices.',
      response: replaySchema,
      bodyBytesMax,
      handle: async ({ params, body }, principal) => {
        const [code, deviceIds] = [
          await codeOf(parts, params.id, body),
          await devicesOf(parts, params.id, body, principal),
        ];
        const { from, to, limit } = body;
        const uplinks = {
          from: from ?? undefined,
          to: to ?? undefined,
          limit: limit ?? replayLimits.uplinksDefault,
        };
        return parts.replay({ code, deviceIds, ...uplinks });
      },
    }),
  ];
}

type Body = Static<typeof replayRequest>;

async function codeOf(
  { records }: RawUplinkParts,
  typeId: string,
  { uplinkScript }: Body,
): Promise<string | null> {
  if (typeof uplinkScript === 'string') return uplinkScript;
  if (uplinkScript !== undefined && uplinkScript !== null) return uplinkScript.code;
  return (await readDeviceType(records, typeId)).uplinkScript?.code ?? null;
}

/** Named devices must be in reach for `asset` `update`; of the others those that are. */
async function devicesOf(
  { records, authorize, placeOfDevice }: RawUplinkParts,
  typeId: string,
  { deviceId, deviceIds = [] }: Body,
  principal: Principal,
): Promise<readonly string[]> {
  const named = deviceId === undefined ? deviceIds : [deviceId, ...deviceIds];
  for (const id of named) authorize(principal, 'asset', 'update', await placeOfDevice(id));
  return named.length > 0
    ? named
    : devicesOfType(records, principal, typeId, replayLimits.devicesMax);
}
