// Endpoints that answer time series, in the present form and in the two older ones (interface 4.4).
import { endpoint } from '../endpoint.ts';
import { manySeriesBody, metricSeriesSchema } from '../many-series.ts';
import { pageSchema } from '../page-envelope.ts';
import {
  aggregationBody,
  aggregationSchema,
  batchSeriesBody,
  deviceParams,
  kpiPageQuery,
  rawSeriesBody,
  rawSeriesSchema,
  seriesBody,
  seriesSchema,
  tagParams,
} from '../queries.ts';
import { list } from '../record-fields.ts';

const tag = 'Data';
const takesShares = 'series';
const ofResource = { scope: 'asset', verb: 'read', resource: 'path' } as const;

export type SeriesEndpoints = ReturnType<typeof seriesEndpoints>;

/** Series from samples. */
export const sampleSeries = seriesEndpoints('raw', 'samples');
/** Series from hourly aggregates. */
export const hourlySeries = seriesEndpoints('aggregated/hourly', 'hourly aggregates');

export const metricSeries = {
  many: endpoint({
    method: 'POST',
    path: '/v3/devices/query/batch/time-series',
    ownBody: true,
    summary: 'Several numbers per bucket for many devices, topics and keys',
    tag,
    takesShares,
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    needsAlso: 'The permission is checked for every device.',
    body: manySeriesBody,
    response: list(metricSeriesSchema),
  }),
} as const;

export const olderSeries = {
  values: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/query/time-series',
    summary: 'Values of one key with their times, oldest first (older form)',
    tag,
    takesShares,
    access: ofResource,
    params: deviceParams,
    body: rawSeriesBody,
    response: rawSeriesSchema,
    answerHeaders: {
      'X-Thinned': 'true when points were omitted: there are more than 250,000 in the range',
    },
  }),
  aggregation: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/query/time-series/aggregation',
    summary: 'One number per bucket, from samples (older form)',
    tag,
    takesShares,
    access: ofResource,
    params: deviceParams,
    body: aggregationBody,
    response: aggregationSchema,
  }),
} as const;

function seriesEndpoints(path: string, source: string) {
  return {
    device: endpoint({
      method: 'POST',
      path: `/v3/devices/:deviceId/query/${path}/time-series`,
      summary: `One number per bucket, from ${source}`,
      tag,
      takesShares,
      access: ofResource,
      params: deviceParams,
      body: seriesBody,
      response: seriesSchema,
    }),
    batch: endpoint({
      method: 'POST',
      path: `/v3/devices/query/batch/${path}/time-series`,
      summary: `One time series per device of a list, from ${source}`,
      tag,
      takesShares,
      access: { scope: 'asset', verb: 'read', resource: 'handler' },
      body: batchSeriesBody,
      response: list(seriesSchema),
    }),
    tag: endpoint({
      method: 'POST',
      path: `/v3/tags/:tagId/query/${path}/time-series`,
      summary: `One time series per device of a tag, from ${source}`,
      tag,
      takesShares,
      access: ofResource,
      params: tagParams,
      query: kpiPageQuery,
      body: seriesBody,
      response: pageSchema(seriesSchema),
    }),
  } as const;
}
