// Schemas and endpoint of recalculations of calculated keys (contract 38.1).
import Type from 'typebox';
import type { JsonObject } from '../model/json.ts';
import { calculatedKeysDraft } from './device-types.ts';
import { endpoint } from './endpoint.ts';
import { namedObject } from './named.ts';
import { id, idParams, list, oneOf, optional } from './record-fields.ts';

const devicesMax = 50;

const recalculationBody = namedObject('RecalculationBody', {
  source: oneOf(['SAMPLES', 'UPLINKS']),
  deviceIds: optional(
    Type.Array(id, {
      maxItems: devicesMax,
      description: 'Service device IDs. Defaults to up to 50 devices of the type.',
    }),
  ),
  from: optional(Type.String({ description: 'ISO-8601 date-time, inclusive.' })),
  to: optional(Type.String({ description: 'ISO-8601 date-time, exclusive.' })),
  calculatedKeys: calculatedKeysDraft(
    'Calculated keys to try. Defaults to those of the device type.',
  ),
  dryRun: Type.Literal(true, { description: 'Nothing is stored.' }),
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
  dryRun: endpoint({
    method: 'POST',
    path: '/v3/device-types/:id/recalculate',
    ownBody: true,
    summary: 'Preview calculated keys',
    description:
      'Computes the calculated keys of stored samples, or of kept raw uplinks that are decoded again, and compares the result with the stored samples; stores nothing.',
    tag: 'Device types',
    access: { scope: 'deviceType', verb: 'read', resource: 'path' },
    params: idParams,
    body: recalculationBody,
    needsAlso: 'Also requires `asset` `update` and `delete` on the devices.',
    response: recalculationReport,
  }),
} as const;
