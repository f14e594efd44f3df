// Schemas and endpoints of downlinks and device events (contract 17).
import Type from 'typebox';
import { downlinkStates } from '../model/downlink.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { endpoint } from './endpoint.ts';
import {
  id,
  idParams,
  list,
  listParameters,
  namedObject,
  oneOf,
  optional,
  orNull,
  pageSchema,
  time,
} from './schema-parts.ts';

const deviceEventSchema = namedObject('DeviceEvent', {
  id,
  type: oneOf(['UPLINK', 'DOWNLINK', 'OUTPUT', 'RULE']),
  timestamp: time,
  correlationId: Type.String(),
  payload: Type.Unsafe<JsonObject | readonly Json[]>({ type: ['object', 'array'] }),
});

const anyJson = Type.Unsafe<Json>({});

const downlinkDraft = namedObject('DownlinkDraft', {
  raw: optional(
    Type.Boolean({ description: "Whether to skip the device type's downlink encoder." }),
  ),
  loraDownlink: optional(
    Type.Object({
      port: optional(Type.Integer({ description: 'LoRaWAN port, 1 to 223. Defaults to 1.' })),
      confirmed: optional(Type.Boolean()),
      payloadHex: optional(Type.String()),
      payload: Type.Optional(anyJson),
      clearQueue: optional(Type.Boolean({ description: 'Whether to replace queued downlinks.' })),
    }),
  ),
  mqttDownlink: optional(
    Type.Object({
      topic: optional(Type.String()),
      payload: Type.Optional(anyJson),
      payloadHex: optional(Type.String()),
      contentType: optional(
        Type.String({ description: 'Content type of the payload. Only `JSON`.' }),
      ),
    }),
  ),
});

const downlinkSchema = namedObject('Downlink', {
  id,
  created: time,
  updated: orNull(time),
  state: oneOf(downlinkStates),
  port: orNull(Type.Integer()),
  confirmed: orNull(Type.Boolean()),
  payloadHex: orNull(Type.String()),
  topic: orNull(Type.String()),
  payload: anyJson,
  error: orNull(Type.String({ description: 'Reason for the failure or delay.' })),
});

const downlinkListQuery = Type.Object({
  ...listParameters(['created', 'updated', 'state', 'sequence']),
  state: Type.Optional(oneOf(downlinkStates)),
});

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
