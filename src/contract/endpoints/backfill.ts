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
