// Schemas and endpoints that delete and correct stored samples (contract 38).
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import {
  filterExpression,
  id,
  idParams,
  list,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  text,
  time,
} from './schema-parts.ts';
import { operationSchema } from './operations.ts';
import { deviceParams } from './sample-queries.ts';
import { sampleExportFormats } from '../model/operation.ts';
import type { JsonObject } from '../model/json.ts';
import { recalculationSources } from '../model/sample-changes.ts';
import { calculatedKeysDraft } from './device-types.ts';

const namesMax = 100;
const devicesMax = 10_000;
const correctionsMax = 1_000;
const reasonMax = 500;

const names = (description: string) =>
  optional(Type.Array(text, { minItems: 1, maxItems: namesMax, description }));
const reason = optional(
  Type.String({ maxLength: reasonMax, description: 'Reason, for the audit log.' }),
);

const deleteBody = namedObject('SampleDeletionBody', {
  workspaceId: id,
  deviceIds: optional(
    Type.Array(id, { minItems: 1, maxItems: devicesMax, description: 'Devices.' }),
  ),
  tagId: optional(
    Type.String({ description: 'Tag whose devices are selected, instead of `deviceIds`.' }),
  ),
  search: optional(text),
  expression: Type.Optional(
    filterExpression('Filter expression that selects devices, instead of `deviceIds`.'),
  ),
  topics: names('Topics. Defaults to all.'),
  from: optional(Type.String({ description: 'ISO-8601 date-time, inclusive.' })),
  to: optional(Type.String({ description: 'ISO-8601 date-time, exclusive.' })),
  keys: names(
    'Data keys to remove. Samples keep their other keys, and go when none is left. Defaults to whole samples.',
  ),
  all: Type.Optional(
    Type.Boolean({ description: 'Required without `topics`, `from`, `to`, and `keys`.' }),
  ),
  reason,
  rawUplinks: optional(
    Type.Boolean({
      description:
        'Whether to delete raw uplinks too, by their times of receipt. Not with `topics` or `keys`.',
    }),
  ),
  samplesMax: optional(
    Type.Integer({
      minimum: 0,
      description: 'Rejects the request with 409 when it selects more samples.',
    }),
  ),
  dryRun: Type.Optional(
    Type.Boolean({ description: 'Whether to count the samples without deleting any.' }),
  ),
});

const counted = (description: string) => Type.Integer({ minimum: 0, description });
const timeOf = (description: string) => Type.String({ format: 'date-time', description });

const exportSchema = Type.Object({
  id,
  format: { ...oneOf(sampleExportFormats), description: 'Format of the file.' },
  fileName: Type.String({ description: 'Name of the file.' }),
  started: time,
  expires: orNull(timeOf('Time when the file is deleted.')),
});

const deletionPreview = namedObject('SampleDeletionPreview', {
  dryRun: Type.Literal(true, { description: 'Always true.' }),
  devices: counted('Number of devices with selected samples.'),
  samples: counted('Number of selected samples.'),
  rawUplinks: Type.Optional(counted('Number of selected raw uplinks, if they are selected.')),
  byTopic: Type.Array(
    Type.Object({
      topic: text,
      samples: counted('Number of selected samples.'),
      oldest: timeOf('Time of the oldest one.'),
      newest: timeOf('Time of the newest one.'),
    }),
    { description: 'Selected samples by topic, most first.' },
  ),
  exports: Type.Array(exportSchema, {
    description: 'Kept exports that may contain the samples. Their files are not changed.',
  }),
});

const sampleTime = (description: string) =>
  Type.Union([Type.String(), Type.Number()], { description });
const topic = optional(Type.String({ description: 'Topic. Defaults to `default`.' }));

const correctBody = namedObject('SampleCorrectionBody', {
  reason,
  corrections: Type.Array(
    Type.Object({
      topic,
      timestamp: sampleTime(
        'ISO-8601 date-time, or epoch milliseconds as a number of 12 to 14 digits.',
      ),
      data: optional({ ...object, description: 'Data that selects one of several samples.' }),
      replacement: Type.Union(
        [
          Type.Object({
            data: object,
            topic: optional(
              Type.String({ description: 'Topic. Defaults to that of the old sample.' }),
            ),
            timestamp: optional(
              sampleTime(
                'ISO-8601 date-time, or epoch milliseconds. Defaults to that of the old sample.',
              ),
            ),
          }),
          Type.Null(),
        ],
        { description: 'Sample that takes the place; null deletes the old one.' },
      ),
    }),
    { minItems: 1, maxItems: correctionsMax, description: 'Samples to replace, in order.' },
  ),
});

const correctionReceipt = namedObject('SampleCorrectionReceipt', {
  corrected: counted('Number of corrected samples.'),
  rejected: list(
    Type.Object({
      index: Type.Integer({ description: 'Index in the request, starting at 0.' }),
      errorCode: oneOf(['SAMPLE_NOT_FOUND', 'SAMPLE_AMBIGUOUS', 'OLDER_THAN_RETENTION']),
      message: text,
    }),
  ),
});

const tag = 'Data';
const bodyBytesMax = 8 * 1024 * 1024;

export const sampleChanges = {
  delete: endpoint({
    method: 'POST',
    path: '/v3/samples/delete',
    ownBody: true,
    summary: 'Delete samples',
    description:
      'Deletes samples of devices by topic and time, or members of their data, in an operation; hourly aggregates follow.',
    tag,
    access: { scope: 'asset', verb: 'delete', resource: 'body' },
    body: deleteBody,
    bodyBytesMax,
    status: 202,
    response: operationSchema,
    otherAnswers: { 200: deletionPreview },
  }),
  correct: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/samples/correct',
    ownBody: true,
    summary: 'Correct samples',
    description:
      'Replaces stored samples of a device. Rules and outputs do not process the new ones, and a device that repeats an old one stores nothing.',
    tag,
    access: { scope: 'asset', verb: 'update', also: [['asset', 'delete']], resource: 'path' },
    params: deviceParams,
    body: correctBody,
    bodyBytesMax,
    response: correctionReceipt,
  }),
} as const;

// Schemas and endpoint of recalculations of calculated keys (contract 38).

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
