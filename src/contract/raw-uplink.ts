// API schemas of raw uplinks, and of the dry run of a decoder on them.
import Type from 'typebox';
import type { Json, JsonObject } from '../model/json.ts';
import { listParameters } from './list-parameters.ts';
import { id, list, object, oneOf, optional, orNull, time } from './record-fields.ts';
import { namedObject } from './named.ts';

const scriptLengthMax = 1024 * 1024;
const devicesMax = 50;
const uplinksMax = 1_000;

const interval = {
  from: Type.Optional(Type.String({ description: 'ISO-8601 time of receipt, inclusive.' })),
  to: Type.Optional(Type.String({ description: 'ISO-8601 time of receipt, exclusive.' })),
};

export const rawUplinkQuery = Type.Object({ ...listParameters(['timestamp']), ...interval });

const rawUplinkFields = {
  id,
  correlationId: id,
  deviceId: id,
  timestamp: time,
  topic: orNull(Type.String()),
  sentTimestamp: orNull(time),
  size: Type.Integer(),
  payload: Type.Unsafe<JsonObject | readonly Json[]>({ type: ['object', 'array'] }),
} as const;

export const rawUplinkSchema = namedObject('RawUplink', rawUplinkFields);

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

export const replaySchema = namedObject('Replay', {
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
