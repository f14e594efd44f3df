// Schemas and endpoints of raw uplinks, their trace, and the dry run of a decoder (contract 35, 39.3).
import Type from 'typebox';
import { payloadEncodings } from '../model/device-type.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { readEncodings } from '../model/payload.ts';
import { endpoint } from './endpoint.ts';
import { listParameters, pageSchema } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { id, idParams, list, object, oneOf, optional, orNull, time } from './record-fields.ts';
import { traceCodes, traceKinds, traceStates } from '../model/device-trace.ts';
import { searchKinds } from '../model/search.ts';

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

// Schema and endpoint of the trace of an uplink (contract 39.3).

const kind = Type.Unsafe<(typeof searchKinds)[number]>({
  type: 'string',
  enum: searchKinds,
  description: 'Kind of the record, as in search results.',
});
const link = orNull(
  Type.Object({ kind, id }, { description: 'Record to look at. Null without one.' }),
);
const traceCode = oneOf(traceCodes);
const sentence = Type.String({ description: 'What happened, as a sentence.' });

const traceSchema = namedObject('DeviceTrace', {
  device: namedObject('TracedDevice', { id, deviceId: Type.String(), name: Type.String() }),
  at: orNull(time),
  verdict: namedObject('TraceVerdict', {
    code: traceCode,
    text: sentence,
    fix: orNull(namedObject('TraceFix', { text: Type.String(), link })),
  }),
  steps: list(
    namedObject('TraceStep', {
      kind: oneOf(traceKinds),
      state: oneOf(traceStates),
      at: orNull(time),
      code: traceCode,
      text: sentence,
      details: orNull(object),
      link,
    }),
  ),
});

const named = (description: string) => Type.Optional(Type.String({ maxLength: 500, description }));

export const deviceTrace = {
  read: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/trace',
    summary: 'Trace an uplink',
    description:
      'Follows one uplink of a device from its arrival to its deliveries, and says where it broke and what to do. Without a correlation ID and a time, the last one.',
    tag: 'Devices',
    access: { scope: 'asset', verb: 'read', resource: 'path' },
    needsAlso:
      'Steps of rules and alarms require `rule` `read`, those of deliveries `dataFlow` `read`; without it they are `SKIPPED`.',
    params: idParams,
    query: Type.Object({
      correlationId: named('Correlation ID of the uplink.'),
      at: named('ISO-8601 time. The newest uplink at or before it is followed.'),
      topic: named('Topic that the uplink must have led to.'),
      dataKey: named('Data key that its samples must have. Dots lead into nested objects.'),
      ruleId: named('Rule that was expected to fire.'),
      outputConnectorId: named('Output connector that was expected to get it.'),
    }),
    response: traceSchema,
  }),
} as const;
