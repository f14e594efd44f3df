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
    Type.Boolean({ description: 'Send as it is, without the downlink encoder of the device type' }),
  ),
  loraDownlink: optional(
    Type.Object({
      port: optional(Type.Integer({ description: '1 to 223; 1 when absent' })),
      confirmed: optional(Type.Boolean()),
      payloadHex: optional(Type.String()),
      payload: Type.Optional(anyJson),
      clearQueue: optional(Type.Boolean({ description: 'Take the place of what waits' })),
    }),
  ),
  mqttDownlink: optional(
    Type.Object({
      topic: optional(Type.String()),
      payload: Type.Optional(anyJson),
      payloadHex: optional(Type.String()),
      contentType: optional(Type.String({ description: 'JSON' })),
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
  error: orNull(Type.String({ description: 'Why it failed, or why it still waits' })),
});

export const downlinkListQuery = Type.Object({
  ...listParameters(['created', 'updated', 'state', 'sequence']),
  state: Type.Optional(oneOf(downlinkStates)),
});
