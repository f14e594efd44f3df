// Endpoints of stored samples (interface 4.1, 4.4).
import Type from 'typebox';
import { endpoint } from '../endpoint.ts';
import {
  deviceParams,
  exportParameters,
  inferredSchemas,
  latestSampleSchema,
  latestSamplesBody,
  latestSamplesPage,
  sampleQueryBody,
  sampleQueryParameters,
  sampleSchema,
  topicParameter,
} from '../queries.ts';

const tag = 'Data';
const takesShares = 'narrowed';
const access = { scope: 'asset', verb: 'read', resource: 'path' } as const;
const params = deviceParams;
const response = Type.Array(sampleSchema);

export const samples = {
  query: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/query',
    summary: 'Samples of a device, newest first',
    tag,
    takesShares,
    access,
    params,
    body: sampleQueryBody,
    response,
  }),
  list: endpoint({
    method: 'GET',
    path: '/v3/devices/:deviceId/query',
    summary: 'Samples of a device, newest first',
    tag,
    takesShares,
    access,
    params,
    query: sampleQueryParameters,
    response,
  }),
  topics: endpoint({
    method: 'GET',
    path: '/v3/devices/:deviceId/query/topics',
    summary: 'Topics that a device has samples of',
    tag,
    takesShares,
    access,
    params,
    response: Type.Array(Type.String()),
  }),
  latest: endpoint({
    method: 'GET',
    path: '/v3/devices/:deviceId/query/latest-sample',
    summary: 'The newest sample of a device; 404 when it has none',
    tag,
    takesShares,
    access,
    params,
    query: topicParameter,
    response: latestSampleSchema,
  }),
  latestOfMany: endpoint({
    method: 'POST',
    path: '/v3/devices/query/latest',
    ownBody: true,
    summary: 'The newest sample of each topic of many devices',
    tag,
    takesShares,
    access: { ...access, resource: 'handler' },
    needsAlso:
      'The permission is checked for every named device, for the workspace, or for the workspace of the tag.',
    body: latestSamplesBody,
    response: latestSamplesPage,
  }),
  inferSchema: endpoint({
    method: 'GET',
    path: '/v3/devices/:deviceId/infer-schema',
    summary: 'The schema of the data of a device: declared by its type and measured',
    tag,
    access,
    params,
    response: inferredSchemas,
  }),
  export: endpoint({
    method: 'GET',
    path: '/v3/devices/:deviceId/export',
    summary: 'All samples of a device, oldest first, as a download',
    tag,
    access,
    params,
    query: exportParameters,
    answerTypes: { 'application/x-ndjson': Type.String(), 'text/csv': Type.String() },
  }),
} as const;
