// Schemas and endpoint of recalculations of calculated keys (contract 38).
import Type from 'typebox';
import type { JsonObject } from '../model/json.ts';
import { recalculationSources } from '../model/sample-changes.ts';
import { calculatedKeysDraft } from './device-types.ts';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';
import { operationSchema } from './operations.ts';
import { id, idParams, list, oneOf, optional } from './record-fields.ts';

const devicesMax = 10_000;

const recalculationBody = namedObject('RecalculationBody', {
  source: oneOf(recalculationSources),
  deviceIds: optional(
    Type.Array(id, {
      maxItems: devicesMax,
      description:
        'Service device IDs. Defaults to all devices of the type that the caller may change. A dry run takes up to 50.',
    }),
  ),
  workspaceId: optional(
    Type.String({
      description: 'Workspace of the devices. Required if the type has devices in several.',
    }),
  ),
  from: optional(Type.String({ description: 'ISO-8601 date-time, inclusive.' })),
  to: optional(Type.String({ description: 'ISO-8601 date-time, exclusive.' })),
  calculatedKeys: calculatedKeysDraft(
    'Calculated keys to try in a dry run. Defaults to those of the device type.',
  ),
  dryRun: optional(
    Type.Boolean({ description: 'Whether to show what would change without storing anything.' }),
  ),
});

const sampleData = (description: string) =>
  Type.Unsafe<JsonObject | null>({ type: ['object', 'null'], description });

const recalculationReport = namedObject('RecalculationReport', {
  samples: Type.Integer({ description: 'Number of samples that were computed.' }),
  changed: Type.Integer({ description: 'Number of samples whose data would change.' }),
  unchanged: Type.Integer({ description: 'Number of samples that would stay as they are.' }),
  complete: Type.Boolean({
    description: 'Whether every sample was computed. A dry run ends after 10 seconds.',
  }),
  differences: list(
    Type.Object({
      deviceId: id,
      topic: Type.String(),
      timestamp: Type.String({ format: 'date-time' }),
      old: sampleData('Stored data. Null for a sample that would be added.'),
      new: sampleData('Computed data. Null for a sample that would be removed.'),
    }),
  ),
});

export const recalculation = {
  recalculate: endpoint({
    method: 'POST',
    path: '/v3/device-types/:id/recalculate',
    ownBody: true,
    summary: 'Recalculate samples',
    description:
      'Computes the calculated keys of stored samples, or of kept raw uplinks that are decoded again, in an operation; hourly aggregates follow. Rules and outputs do not process the result. A dry run shows what would change.',
    tag: 'Device types',
    access: { scope: 'deviceType', verb: 'read', resource: 'path' },
    params: idParams,
    body: recalculationBody,
    needsAlso: 'Also requires `asset` `update` and `delete` on the devices.',
    status: 202,
    response: operationSchema,
    otherAnswers: { 200: recalculationReport },
  }),
} as const;
