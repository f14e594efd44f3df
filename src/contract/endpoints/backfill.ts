// Endpoints of backfill (interface 4.3).
import Type from 'typebox';
import {
  backfillBody,
  backfillReceipt,
  bulkBackfillBody,
  bulkBackfillReceipt,
} from '../backfill.ts';
import { type BodyStream, endpoint } from '../endpoint.ts';
import { deviceParams } from '../queries.ts';

const tag = 'Data';
const access = { scope: 'asset', verb: 'update', resource: 'path' } as const;
/** As for an element of the bulk request. */
const sampleBytesMax = 1024 * 1024;
const bulkBytesMax = 64 * 1024 * 1024;

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
    status: 201,
    response: backfillReceipt,
  }),
  bulk: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/backfill/bulk',
    summary: 'Add many samples to a device; the body is read while it comes in',
    tag,
    access,
    params: deviceParams,
    body: Type.Unsafe<BodyStream>(bulkBackfillBody),
    streamedBody: true,
    bodyBytesMax: bulkBytesMax,
    status: 201,
    response: bulkBackfillReceipt,
  }),
} as const;
