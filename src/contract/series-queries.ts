// Endpoints that answer time series, in the present form and in the two older ones (interface 4.4).
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { list, namedObject, oneOf, optional, pageSchema } from './schema-parts.ts';
import {
  accumulation,
  across,
  aggregationBody,
  aggregationSchema,
  asked,
  batchSeriesBody,
  bucketInterval,
  deviceParams,
  kpiPageQuery,
  orderMembers,
  placeParams,
  rawSeriesBody,
  seriesBody,
  seriesSchema,
  tagParams,
  timeZone,
  topic,
} from './sample-queries.ts';
import type { Json } from '../model/json.ts';

const rawSeriesSchema = namedObject('ValueSeries', {
  dataPoints: Type.Array(
    // As JSON Schema 2020-12 writes a tuple.
    Type.Unsafe<[Json, string]>({
      type: 'array',
      prefixItems: [
        { description: 'Value of the data key.' },
        { type: 'string', format: 'date-time' },
      ],
      items: false,
      minItems: 2,
    }),
  ),
  key: Type.String(),
});

// API schemas of the series of many devices, topics and keys (contract 37).

/** Series of one request. */
const seriesMax = 1_000;
const accumulatorsMax = 12;
const calculationsMax = 100;

/** Of the names of series in calculations. */
export const seriesRefPattern = '^[A-Za-z_][A-Za-z0-9_]{0,39}$';

/** Devices that one series combines. */
export const combinedDevicesMax = 1_000;

const combinedDevices = namedObject('CombinedDevices', {
  deviceIds: optional(
    Type.Array(Type.String({ maxLength: 200 }), {
      minItems: 1,
      maxItems: combinedDevicesMax,
      description:
        'Service IDs of the devices. Unknown IDs are omitted. Set exactly one of `deviceIds`, `tagId`, and `placeId`.',
    }),
  ),
  tagId: optional(
    Type.String({ maxLength: 200, description: 'Selects the devices of a tag, at most 1,000.' }),
  ),
  placeId: optional(
    Type.String({
      maxLength: 200,
      description: 'Selects the devices at a place and below it, at most 1,000.',
    }),
  ),
});

const wantedSeries = namedObject('WantedSeries', {
  deviceId: optional(
    Type.String({
      maxLength: 200,
      description: 'Service ID of the device. Set either `deviceId` or `devices`.',
    }),
  ),
  devices: optional(combinedDevices),
  across: optional(across),
  topic,
  ...asked,
  ref: optional(
    Type.String({
      pattern: seriesRefPattern,
      description: 'Name of the series in the expressions of `calculations`.',
    }),
  ),
  hidden: optional(
    Type.Boolean({ description: 'Omits the series from the response. For `calculations`.' }),
  ),
  accumulators: Type.Array(accumulation.accumulator, {
    minItems: 1,
    maxItems: accumulatorsMax,
    description:
      'Accumulators that share a read, such as AVG, MIN, and MAX, cost little more than one.',
  }),
  ...orderMembers,
});

export const manySeriesBody = namedObject('ManySeriesBody', {
  series: Type.Array(wantedSeries, {
    minItems: 1,
    maxItems: seriesMax,
    description:
      'At most 1,000 series and 100,000 points. A series of `devices` combines the points of each bucket into one. Unknown devices, tags, and places are omitted.',
  }),
  interval: accumulation.interval,
  bucketInterval: Type.Optional(bucketInterval),
  timeZone: Type.Optional(timeZone),
  source: optional(oneOf(['raw', 'hourly'])),
  calculations: optional(
    Type.Array(
      namedObject('SeriesCalculation', {
        as: Type.String({ minLength: 1, maxLength: 100, description: 'Name of the result.' }),
        expression: Type.String({
          minLength: 1,
          maxLength: 20_000,
          description:
            'Formula over the values of a bucket, such as `a - b` or `a.MAX / 2`. A `ref` alone is the first accumulator of its series.',
        }),
      }),
      { maxItems: calculationsMax, description: 'Formulas over series with a `ref`.' },
    ),
  ),
});

const point = Type.Union([Type.Number(), Type.Null()]);

/** Of a series that combines devices. */
export const combinedMembers = {
  across: Type.Optional(across),
  devices: Type.Optional(Type.Integer({ description: 'Number of combined devices.' })),
  withValue: Type.Optional(
    Type.Integer({ description: 'Number of combined devices that have a value in the interval.' }),
  ),
};

const metricSeriesSchema = namedObject('MetricSeries', {
  deviceId: Type.Optional(
    Type.String({ description: 'Service ID of the device. Absent for combined devices.' }),
  ),
  topic: Type.Optional(Type.String()),
  dataKey: Type.Optional(Type.String({ description: 'Data key, or the text of the expression.' })),
  ...combinedMembers,
  ref: Type.Optional(Type.String({ description: 'The `ref` of the request.' })),
  as: Type.Optional(
    Type.String({
      description: 'Name of a calculation, which has the points `VALUE` and no device.',
    }),
  ),
  timestamps: list(Type.String({ format: 'date-time', description: 'Start time of each bucket.' })),
  dataPoints: Type.Unsafe<Readonly<Record<string, readonly (number | null)[]>>>(
    Type.Record(Type.String(), Type.Array(point), {
      description: 'Values per bucket by accumulator. Null for empty buckets.',
    }),
  ),
  coverage: Type.Optional(
    Type.Unsafe<Readonly<Record<string, readonly number[]>>>(
      Type.Record(Type.String(), Type.Array(Type.Number()), {
        description:
          'Share of each bucket that lies between samples, 0 to 1, by accumulator. Only for accumulators that depend on the order of time.',
      }),
    ),
  ),
  approximate: Type.Optional(
    Type.Array(Type.String(), {
      description: 'Quantiles that are estimates within 0.5 % in some bucket.',
    }),
  ),
});

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
      'Returns several accumulators per bucket for any combination of devices, topics, and data keys. A series can combine up to 1,000 devices.',
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
    place: endpoint({
      method: 'POST',
      path: `/v3/places/:placeId/query/${path}/time-series`,
      summary: `Query time series for a place from ${source}`,
      description: `Returns one time series per device at the place and below it, calculated from ${source}.`,
      tag,
      takesShares,
      access: ofResource,
      params: placeParams,
      query: kpiPageQuery,
      body: seriesBody,
      response: pageSchema(seriesSchema),
    }),
  } as const;
}
