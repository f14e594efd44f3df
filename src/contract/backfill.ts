// Schemas and endpoints of backfill (interface 4.3, contract 37).
import Type from 'typebox';
import type { Json } from '../model/json.ts';
import { type BodyStream, endpoint } from './endpoint.ts';
import { notStoredSamples } from './capture.ts';
import { namedObject } from './named.ts';
import { deviceParams } from './sample-queries.ts';
import { list, object, optional } from './record-fields.ts';

/**
 * Samples are read one by one, each with a refusal of its own; this is what they should look like.
 */
const sampleFields = {
  data: object,
  topic: optional(Type.String({ description: 'Topic of the sample. Defaults to `default`.' })),
  timestamp: optional(
    Type.String({
      description:
        'ISO-8601 date-time, or epoch milliseconds as a number of 12 to 14 digits. Defaults to the current time.',
    }),
  ),
  meta: optional(object),
};
const sample = namedObject('BackfillSample', sampleFields);

const backfillBody = Type.Unsafe<Json>({
  type: 'object',
  description: 'Sample `{data, topic?, timestamp?, meta?}`, as in a bulk backfill.',
});
const bulkBackfillBody = Type.Array(sample);

const samplesBulkBody = Type.Array(
  namedObject('DeviceSample', {
    deviceId: Type.String({ description: 'Service ID or device ID of the device.' }),
    ...sampleFields,
  }),
);
const samplesBulkQuery = Type.Object({
  organizationId: optional(
    Type.String({ description: 'Organization of the devices, for users with several.' }),
  ),
});

export const rejectedSamples = list(
  namedObject('RejectedSample', {
    index: Type.Integer({ description: 'Index in the request, starting at 0.' }),
    errorCode: Type.String(),
    message: Type.String(),
  }),
);

const keptCounts = {
  stored: Type.Integer({
    description: 'Number of accepted samples that were stored. The others are in `notStored`.',
  }),
  notStored: Type.Optional(notStoredSamples),
} as const;

const backfillReceipt = namedObject('BackfillReceipt', {
  message: Type.String(),
  accepted: Type.Integer(),
  ...keptCounts,
  duplicates: Type.Integer({ description: 'Number of samples that were already stored.' }),
  rejected: rejectedSamples,
});

const bulkBackfillReceipt = namedObject('BulkBackfillReceipt', {
  accepted: Type.Integer(),
  ...keptCounts,
  duplicates: Type.Integer({ description: 'Number of samples that were already stored.' }),
  rejected: rejectedSamples,
});

const tag = 'Data';
const access = { scope: 'asset', verb: 'update', resource: 'path' } as const;
/** As for an element of the bulk request. */
const sampleBytesMax = 1024 * 1024;
const bulkBytesMax = 64 * 1024 * 1024;
const ndjson = {
  'application/x-ndjson': Type.String({ description: 'One sample per line.' }),
} as const;

export const backfill = {
  single: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/backfill',
    summary: 'Backfill a sample',
    description:
      'Stores one sample for a device without running the decoder; outputs and rules process it.',
    tag,
    access,
    params: deviceParams,
    body: backfillBody,
    bodyBytesMax: sampleBytesMax,
    readings: true,
    status: 201,
    response: backfillReceipt,
  }),
  bulk: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/backfill/bulk',
    summary: 'Backfill samples for a device',
    description:
      'Stores many samples for one device from a JSON or NDJSON body, which is processed as it streams in.',
    tag,
    access,
    params: deviceParams,
    body: Type.Unsafe<BodyStream>(bulkBackfillBody),
    bodyTypes: { 'application/json': bulkBackfillBody, ...ndjson },
    streamedBody: true,
    bodyBytesMax: bulkBytesMax,
    status: 201,
    response: bulkBackfillReceipt,
  }),
  samples: endpoint({
    method: 'POST',
    path: '/v3/samples/bulk',
    summary: 'Backfill samples for many devices',
    description:
      'Stores samples for many devices from a JSON or NDJSON body; samples of devices that are unknown or not writable are rejected one by one.',
    tag,
    access: { ...access, resource: 'handler' },
    needsAlso: 'Checked per device.',
    query: samplesBulkQuery,
    body: Type.Unsafe<BodyStream>(samplesBulkBody),
    bodyTypes: { 'application/json': samplesBulkBody, ...ndjson },
    streamedBody: true,
    bodyBytesMax: bulkBytesMax,
    status: 201,
    response: bulkBackfillReceipt,
  }),
} as const;
