// Endpoints of backfill (interface 4.3, contract 37).
import Type from 'typebox';
import {
  backfillBody,
  backfillReceipt,
  bulkBackfillBody,
  bulkBackfillReceipt,
  samplesBulkBody,
  samplesBulkQuery,
} from '../backfill.ts';
import { type BodyStream, endpoint } from '../endpoint.ts';
import { deviceParams } from '../queries.ts';

const tag = 'Data';
const access = { scope: 'asset', verb: 'update', resource: 'path' } as const;
/** As for an element of the bulk request. */
const sampleBytesMax = 1024 * 1024;
const bulkBytesMax = 64 * 1024 * 1024;
const ndjson = {
  'application/x-ndjson': Type.String({ description: 'An element of the array a line' }),
} as const;

export const backfill = {
  single: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/backfill',
    summary: 'Add one sample to a device',
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
    summary: 'Add many samples to a device; the body is read while it arrives',
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
    summary: 'Add samples to many devices; the body is read while it arrives',
    tag,
    access: { ...access, resource: 'handler' },
    needsAlso:
      'The permission is checked for every device. A sample of a device that is unknown, or that the caller cannot update, is rejected.',
    query: samplesBulkQuery,
    body: Type.Unsafe<BodyStream>(samplesBulkBody),
    bodyTypes: { 'application/json': samplesBulkBody, ...ndjson },
    streamedBody: true,
    bodyBytesMax: bulkBytesMax,
    status: 201,
    response: bulkBackfillReceipt,
  }),
} as const;
