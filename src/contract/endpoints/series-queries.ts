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
    summary: 'Query many time series at once',
    description:
      'Returns several accumulators per bucket for any combination of devices, topics, and data keys.',
    tag,
    takesShares,
    access: { scope: 'asset', verb: 'read', resource: 'handler' },
    needsAlso: 'Checked per device.',
    body: manySeriesBody,
    response: list(metricSeriesSchema),
  }),
} as const;

export const olderSeries = {
  values: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/query/time-series',
    summary: 'Query values of one data key',
    description:
      'Returns the values of one data key with their timestamps, oldest first. Use `/query` or `/query/raw/time-series` instead.',
    deprecated: true,
    tag,
    takesShares,
    access: ofResource,
    params: deviceParams,
    body: rawSeriesBody,
    response: rawSeriesSchema,
    answerHeaders: {
      'X-Thinned': '`true` if points were omitted because the interval has more than 250,000.',
    },
  }),
  aggregation: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/query/time-series/aggregation',
    summary: 'Query an aggregated time series',
    description:
      'Returns one KPI per bucket, calculated from samples. Use `/query/raw/time-series` instead.',
    deprecated: true,
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
      summary: `Query a time series from ${source}`,
      description: `Returns one KPI per bucket, calculated from ${source}.`,
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
      summary: `Query time series of many devices from ${source}`,
      description: `Returns one time series per listed device, calculated from ${source}.`,
      tag,
      takesShares,
      access: { scope: 'asset', verb: 'read', resource: 'handler' },
      body: batchSeriesBody,
      response: list(seriesSchema),
    }),
    tag: endpoint({
      method: 'POST',
      path: `/v3/tags/:tagId/query/${path}/time-series`,
      summary: `Query time series for a tag from ${source}`,
      description: `Returns one time series per device of the tag, calculated from ${source}.`,
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
