// Endpoints that answer one number, and those that tell what is usual for a value and when it reaches a target (interface 4.4, 4.5, contract 38).
import Type from 'typebox';
import { endpoint } from './endpoint.ts';
import { list, namedObject, oneOf, optional, orNull, pageSchema } from './schema-parts.ts';
import {
  accumulation,
  batchKpiBody,
  batchKpiSchema,
  dataKey,
  deviceParams,
  kpiBody,
  kpiPageQuery,
  kpiSchema,
  placeKpiSchema,
  placeParams,
  placeValuesBody,
  placeValueSchema,
  tagKpiSchema,
  tagParams,
  timeZone,
  topic,
} from './sample-queries.ts';

const tag = 'Data';
const takesShares = 'series';
const ofResource = { scope: 'asset', verb: 'read', resource: 'path' } as const;
const ofDevices = { scope: 'asset', verb: 'read', resource: 'handler' } as const;

export type KpiEndpoints = ReturnType<typeof kpiEndpoints>;

/** Numbers from samples. */
export const sampleKpis = kpiEndpoints('raw', 'samples');
/** Numbers from hourly aggregates. */
export const hourlyKpis = kpiEndpoints('aggregated/hourly', 'hourly aggregates');
/** Another path of `sampleKpis.batch`. */
export const batchKpi = batchEndpoint(
  '/v3/devices/query/batch',
  'Calculate KPIs for many devices',
  'Alias of `/v3/devices/query/batch/raw/kpi`.',
);

/** Numbers of places, for heat maps. */
export const placeValues = endpoint({
  method: 'POST',
  path: '/v3/places/query/values',
  summary: 'Calculate values of places',
  description:
    'Combines the KPIs of the devices at and below each place to one number. Devices without a value are left out. Above 25 hours, hourly aggregates are read.',
  tag,
  access: { scope: 'asset', verb: 'read', resource: 'body' },
  body: placeValuesBody,
  response: list(placeValueSchema),
});

function kpiEndpoints(path: string, source: string) {
  return {
    device: endpoint({
      method: 'POST',
      path: `/v3/devices/:deviceId/query/${path}/kpi`,
      summary: `Calculate a KPI from ${source}`,
      description: 'Reduces the values of one data key in the interval to a single number.',
      tag,
      takesShares,
      access: ofResource,
      params: deviceParams,
      body: kpiBody,
      response: kpiSchema,
    }),
    tag: endpoint({
      method: 'POST',
      path: `/v3/tags/:tagId/query/${path}/kpi`,
      summary: `Calculate KPIs for a tag from ${source}`,
      description: 'Returns one KPI per device of the tag.',
      tag,
      takesShares,
      access: ofResource,
      params: tagParams,
      query: kpiPageQuery,
      body: kpiBody,
      response: pageSchema(kpiSchema),
    }),
    tagAccumulated: endpoint({
      method: 'POST',
      path: `/v3/tags/:tagId/query/${path}/accumulated-kpi`,
      summary: `Calculate an accumulated KPI for a tag from ${source}`,
      description: "Returns the sum of the KPIs of the tag's devices.",
      tag,
      takesShares,
      access: ofResource,
      params: tagParams,
      body: kpiBody,
      response: tagKpiSchema,
    }),
    place: endpoint({
      method: 'POST',
      path: `/v3/places/:placeId/query/${path}/kpi`,
      summary: `Calculate KPIs for a place from ${source}`,
      description: 'Returns one KPI per device at the place and below it.',
      tag,
      takesShares,
      access: ofResource,
      params: placeParams,
      query: kpiPageQuery,
      body: kpiBody,
      response: pageSchema(kpiSchema),
    }),
    placeAccumulated: endpoint({
      method: 'POST',
      path: `/v3/places/:placeId/query/${path}/accumulated-kpi`,
      summary: `Calculate an accumulated KPI for a place from ${source}`,
      description: 'Returns the sum of the KPIs of the devices at the place and below it.',
      tag,
      takesShares,
      access: ofResource,
      params: placeParams,
      body: kpiBody,
      response: placeKpiSchema,
    }),
    batch: batchEndpoint(
      `/v3/devices/query/batch/${path}/kpi`,
      `Calculate KPIs for many devices from ${source}`,
      'Returns one KPI per listed device. Unknown devices are omitted.',
    ),
    batchAccumulated: endpoint({
      method: 'POST',
      path: `/v3/devices/query/batch/${path}/accumulated-kpi`,
      summary: `Calculate an accumulated KPI for many devices from ${source}`,
      description: 'Returns the sum of the KPIs of the listed devices.',
      tag,
      takesShares,
      access: ofDevices,
      body: batchKpiBody,
      response: batchKpiSchema,
    }),
  } as const;
}

function batchEndpoint(path: string, summary: string, description: string) {
  return endpoint({
    method: 'POST',
    path,
    summary,
    description,
    tag,
    takesShares,
    access: ofDevices,
    query: kpiPageQuery,
    body: batchKpiBody,
    response: pageSchema(kpiSchema),
  });
}

// Endpoints that tell what is usual for a value, and when it reaches a target (contract 38).

const durationMax = 100;
const number = Type.Union([Type.Number(), Type.Null()]);
const hours = (description: string) => Type.Array(number, { description });

const expectedBody = namedObject('ExpectedRangeBody', {
  topic,
  dataKey,
  interval: accumulation.interval,
  sensitivity: optional(
    Type.Unsafe<'LOW' | 'MEDIUM' | 'HIGH'>({
      ...oneOf(['LOW', 'MEDIUM', 'HIGH']),
      description: 'Width of the range. `HIGH` is the narrowest. Defaults to `MEDIUM`.',
    }),
  ),
  timeZone,
});

const expectedSchema = namedObject('ExpectedRange', {
  timestamps: Type.Array(Type.String({ format: 'date-time' }), {
    description: 'Start of each hour.',
  }),
  expected: hours('Expected average of each hour. Null if too little is known.'),
  lower: hours('Lower bound of each hour.'),
  upper: hours('Upper bound of each hour.'),
  method: Type.Unsafe<'HOUR_OF_WEEK' | 'HOUR_OF_DAY' | 'NONE'>({
    ...oneOf(['HOUR_OF_WEEK', 'HOUR_OF_DAY', 'NONE']),
    description:
      'Hours that are compared on the last day of the interval. `HOUR_OF_DAY` tells working days from weekends. `NONE` if there is too little history.',
  }),
  weeks: Type.Integer({ description: 'Weeks of history that the last day is based on.' }),
});

const forecastBody = namedObject('ForecastBody', {
  deviceIds: optional(
    Type.Array(Type.String({ maxLength: 1_000 }), {
      minItems: 1,
      maxItems: 1_000,
      description: 'Service device IDs. Set exactly one of `deviceIds` and `tagId`.',
    }),
  ),
  tagId: optional(Type.String({ maxLength: 200, description: 'Selects all devices of a tag.' })),
  topic,
  dataKey,
  target: Type.Number({ description: 'Value to be reached.' }),
  history: optional(
    Type.String({
      maxLength: durationMax,
      description: 'ISO-8601 duration to learn from, at most `P366D`. Defaults to `P30D`.',
    }),
  ),
  horizon: optional(
    Type.String({
      maxLength: durationMax,
      description: 'ISO-8601 duration to look ahead. Defaults to `P365D`.',
    }),
  ),
  timeZone,
});

const moment = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

const forecastSchema = namedObject('Forecast', {
  deviceId: Type.String({ description: 'Service ID of the device.' }),
  value: Type.Union([Type.Number(), Type.Null()], { description: 'Average of the newest hour.' }),
  slopePerDay: Type.Union([Type.Number(), Type.Null()], { description: 'Change per day.' }),
  reachesAt: moment('When the value reaches the target. Null with a reason.'),
  earliest: moment('Start of the period in which it does so with a probability of 80 %.'),
  latest: moment('End of that period.'),
  days: Type.Integer({
    description: 'Days that the forecast is based on, since the last jump against the trend.',
  }),
  reason: orNull(
    Type.Unsafe<'TOO_FEW' | 'FLAT' | 'AWAY' | 'BEYOND_HORIZON'>({
      ...oneOf(['TOO_FEW', 'FLAT', 'AWAY', 'BEYOND_HORIZON']),
      description:
        'Why there is no forecast: fewer than 7 days, no clear trend, a trend away from the target, or a time beyond the horizon.',
    }),
  ),
});
const read = { scope: 'asset', verb: 'read' } as const;

export const expectations = {
  expected: endpoint({
    method: 'POST',
    path: '/v3/devices/:deviceId/query/expected',
    ownBody: true,
    summary: 'Get the expected range',
    description:
      'Returns the range that is usual for a value in each hour of at most 92 days, learned from the 8 weeks before each day.',
    tag,
    takesShares,
    access: { ...read, resource: 'path' },
    params: deviceParams,
    body: expectedBody,
    response: expectedSchema,
  }),
  forecast: endpoint({
    method: 'POST',
    path: '/v3/devices/query/forecast',
    ownBody: true,
    summary: 'Forecast when values reach a target',
    description:
      'Returns for each device when its value reaches the target if it continues as in the last days.',
    tag,
    takesShares,
    access: { ...read, resource: 'handler' },
    needsAlso: 'Checked for each listed device, or for the workspace of the tag.',
    query: kpiPageQuery,
    body: forecastBody,
    response: pageSchema(forecastSchema),
  }),
} as const;
