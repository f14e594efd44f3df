// API schemas of backfills (interface 4.3, contract 28, 35 and 37).
import Type from 'typebox';
import type { Json } from '../model/json.ts';
import { list, object, optional } from './record-fields.ts';
import { namedObject } from './named.ts';
import { notStoredSamples } from './kept-samples.ts';

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

export const backfillBody = Type.Unsafe<Json>({
  type: 'object',
  description: 'Sample `{data, topic?, timestamp?, meta?}`, as in a bulk backfill.',
});
export const bulkBackfillBody = Type.Array(sample);

export const samplesBulkBody = Type.Array(
  namedObject('DeviceSample', {
    deviceId: Type.String({ description: 'Service ID or device ID of the device.' }),
    ...sampleFields,
  }),
);
export const samplesBulkQuery = Type.Object({
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

export const backfillReceipt = namedObject('BackfillReceipt', {
  message: Type.String(),
  accepted: Type.Integer(),
  ...keptCounts,
  duplicates: Type.Integer({ description: 'Number of samples that were already stored.' }),
  rejected: rejectedSamples,
});

export const bulkBackfillReceipt = namedObject('BulkBackfillReceipt', {
  accepted: Type.Integer(),
  ...keptCounts,
  duplicates: Type.Integer({ description: 'Number of samples that were already stored.' }),
  rejected: rejectedSamples,
});
