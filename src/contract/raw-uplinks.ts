// Schemas and endpoints of raw uplinks and the dry run of a decoder (contract 35).
import Type from 'typebox';
import { payloadEncodings } from '../model/device-type.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { readEncodings } from '../model/payload.ts';
import { endpoint } from './endpoint.ts';
import { listParameters, pageSchema } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { id, idParams, list, object, oneOf, optional, orNull, time } from './record-fields.ts';

const scriptLengthMax = 1024 * 1024;
const devicesMax = 50;
const uplinksMax = 1_000;

const interval = {
  from: Type.Optional(Type.String({ description: 'ISO-8601 time of receipt, inclusive.' })),
  to: Type.Optional(Type.String({ description: 'ISO-8601 time of receipt, exclusive.' })),
};

const rawUplinkQuery = Type.Object({ ...listParameters(['timestamp']), ...interval });

const rawUplinkFields = {
  id,
  correlationId: id,
  deviceId: id,
  timestamp: time,
  topic: orNull(Type.String()),
  sentTimestamp: orNull(time),
  size: Type.Integer(),
  payload: Type.Unsafe<JsonObject | readonly Json[]>({ type: ['object', 'array'] }),
  encoding: oneOf(readEncodings),
  payloadHex: orNull(Type.String()),
} as const;

const rawUplinkSchema = namedObject('RawUplink', rawUplinkFields);

const code = Type.String({ maxLength: scriptLengthMax });

export const replayRequest = namedObject('ReplayRequest', {
  uplinkScript: optional(
    Type.Union([Type.Object({ code: orNull(code) }), code], {
      description: 'Decoder to run. Defaults to the stored decoder.',
    }),
  ),
  deviceId: Type.Optional(id),
  deviceIds: Type.Optional(
    Type.Array(id, {
      maxItems: devicesMax,
      description: 'Defaults to up to 50 devices of the type.',
    }),
  ),
  encoding: Type.Optional(
    Type.Union([oneOf(payloadEncodings), Type.Null()], {
      description:
        'Reads the bytes of the uplinks again with this encoding. Payloads that were read as JSON or as a form stay as they are.',
    }),
  ),
  from: optional(Type.String()),
  to: optional(Type.String()),
  limit: optional(
    Type.Integer({
      minimum: 1,
      maximum: uplinksMax,
      description: 'Number of newest uplinks. Defaults to 100.',
    }),
  ),
});

const sample = Type.Object({
  topic: Type.String(),
  timestamp: time,
  data: object,
  meta: orNull(object),
});

const replaySchema = namedObject('Replay', {
  dryRun: Type.Literal(true),
  summary: Type.Object({
    devices: Type.Integer(),
    uplinks: Type.Integer(),
    same: Type.Integer(),
    different: Type.Integer(),
    errors: Type.Integer(),
    unknown: Type.Integer(),
    complete: Type.Boolean(),
    durationMs: Type.Number(),
  }),
  uplinks: list(
    Type.Object({
      ...rawUplinkFields,
      verdict: oneOf(['SAME', 'DIFFERENT', 'ERROR', 'UNKNOWN']),
      oldSamples: orNull(list(sample)),
      newSamples: list(sample),
      notes: list(Type.Object({ level: Type.String(), message: Type.String() })),
    }),
  ),
});

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
