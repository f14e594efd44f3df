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
  topic: optional(Type.String({ description: '`default` when absent' })),
  timestamp: optional(
    Type.String({
      description:
        'ISO-8601 date-time, or a number of epoch milliseconds with 12 to 14 digits; the current time when absent',
    }),
  ),
  meta: optional(object),
};
const sample = namedObject('BackfillSample', sampleFields);

export const backfillBody = Type.Unsafe<Json>({
  type: 'object',
  description: 'A sample: {data, topic?, timestamp?, meta?}, like the elements of a bulk backfill',
});
export const bulkBackfillBody = Type.Array(sample);

export const samplesBulkBody = Type.Array(
  namedObject('DeviceSample', {
    deviceId: Type.String({ description: 'The id or the physical id of the device' }),
    ...sampleFields,
  }),
);
export const samplesBulkQuery = Type.Object({
  organizationId: optional(
    Type.String({ description: 'Of the devices, for users of several organizations' }),
  ),
});

export const rejectedSamples = list(
  namedObject('RejectedSample', {
    index: Type.Integer({ description: 'Place in the request, from 0' }),
    errorCode: Type.String(),
    message: Type.String(),
  }),
);

const keptCounts = {
  stored: Type.Integer({ description: 'Of the accepted ones; the others are in notStored' }),
  notStored: Type.Optional(notStoredSamples),
} as const;

export const backfillReceipt = namedObject('BackfillReceipt', {
  message: Type.String(),
  accepted: Type.Integer(),
  ...keptCounts,
  duplicates: Type.Integer({ description: 'Identical to samples that were stored already' }),
  rejected: rejectedSamples,
});

export const bulkBackfillReceipt = namedObject('BulkBackfillReceipt', {
  accepted: Type.Integer(),
  ...keptCounts,
  duplicates: Type.Integer({ description: 'Identical to samples that were stored already' }),
  rejected: rejectedSamples,
});
