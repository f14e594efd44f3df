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
    summary: 'Query samples',
    description: 'Returns the samples of a device in a time range, newest first.',
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
    summary: 'Query samples',
    description: 'Returns the samples of a device in a time range, newest first.',
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
    summary: 'List topics',
    description: 'Returns the topics for which a device has samples.',
    tag,
    takesShares,
    access,
    params,
    response: Type.Array(Type.String()),
  }),
  latest: endpoint({
    method: 'GET',
    path: '/v3/devices/:deviceId/query/latest-sample',
    summary: 'Get the latest sample',
    description: 'Returns the newest sample of a device, or 404 when it has none.',
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
    summary: 'Get latest samples of many devices',
    description:
      'Returns the newest sample per topic for a list of devices, a tag, or a workspace.',
    tag,
    takesShares,
    access: { ...access, resource: 'handler' },
    needsAlso: 'Checked for each listed device, or for the workspace of the tag or request.',
    body: latestSamplesBody,
    response: latestSamplesPage,
  }),
  inferSchema: endpoint({
    method: 'GET',
    path: '/v3/devices/:deviceId/infer-schema',
    summary: 'Infer the device schema',
    description:
      "Returns a JSON Schema per topic that combines the device type's schema with the keys found in stored data.",
    tag,
    access,
    params,
    response: inferredSchemas,
  }),
  export: endpoint({
    method: 'GET',
    path: '/v3/devices/:deviceId/export',
    summary: 'Export samples of a device',
    description: 'Streams all samples of a device as a download, oldest first.',
    tag,
    access,
    params,
    query: exportParameters,
    answerTypes: { 'application/x-ndjson': Type.String(), 'text/csv': Type.String() },
  }),
} as const;
