// API schemas of downlinks: the command, and the list with their states (contract 17, 35).
import Type from 'typebox';
import { downlinkStates } from '../model/downlink.ts';
import type { Json } from '../model/json.ts';
import { listParameters } from './list-parameters.ts';
import { id, oneOf, optional, orNull, time } from './record-fields.ts';
import { namedObject } from './named.ts';

const anyJson = Type.Unsafe<Json>({});

export const downlinkDraft = namedObject('DownlinkDraft', {
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

export const downlinkSchema = namedObject('Downlink', {
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

export const downlinkListQuery = Type.Object({
  ...listParameters(['created', 'updated', 'state', 'sequence']),
  state: Type.Optional(oneOf(downlinkStates)),
});
