// Schemas and endpoints of stored samples (interface 4.1, 4.4).
import Type, { type Static } from 'typebox';
import { type AcrossName, acrossNames } from '../model/calculation.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { accumulatorNames, lastAlias, quantilePattern } from '../query/summaries/accumulators.ts';
import { foldNames } from '../query/summaries/folds.ts';
import { endpoint } from './endpoint.ts';
import { expressionText } from './expressions.ts';
import {
  filterExpression,
  named,
  namedObject,
  oneOf,
  pageParameters,
  pageSchema,
  shownAs,
} from './schema-parts.ts';

const textMax = 1_000;
const deviceIdsMax = 1_000;
// Sent by clients that fill in what they leave open.
const orNull = <T extends Type.TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const time = (description: string) => Type.String({ maxLength: textMax, description });
export const topic = Type.String({
  minLength: 1,
  maxLength: textMax,
  description: 'Topic of the samples.',
});
export const dataKey = Type.String({
  minLength: 1,
  maxLength: textMax,
  description:
    'Data key. Matched literally first, then as a path such as `position.latitude` or `list.0.key`.',
});
export const timeZone = orNull(
  Type.String({
    maxLength: textMax,
    description: "IANA time zone of the buckets. Defaults to the workspace's, then UTC.",
  }),
);
const shownAccumulator = named(
  'Accumulator',
  Type.Union([
    oneOf([...accumulatorNames, ...foldNames, lastAlias]),
    Type.String({ pattern: quantilePattern, description: 'Quantile, P0 to P100.' }),
  ]),
);

/** Taken in any case, and refused with the list of the valid ones. */
export function accumulatorOf(description: string) {
  return shownAs(shownAccumulator, Type.String({ maxLength: textMax, description }));
}

export const across = Type.Unsafe<AcrossName>({
  ...oneOf(acrossNames),
  description: 'How the values of the devices are combined. `COUNT` is the number of values.',
});

/** Members for accumulators in the order of time (contract 38). */
export const orderMembers = {
  interpolation: orNull(
    Type.Unsafe<'LINEAR' | 'STEP'>({
      ...oneOf(['LINEAR', 'STEP']),
      description:
        'Values between two samples, for `INTEGRAL` and `TIME_WEIGHTED_AVG`: on a line, or the last value until the next one. Defaults to `LINEAR`. `DURATION_TRUE` and `TIME_IN_STATE` always use `STEP`.',
    }),
  ),
  maxGap: orNull(
    Type.String({
      maxLength: textMax,
      description:
        'Longest time between two samples that counts as covered, as an ISO-8601 duration. Defaults to `P2D`.',
    }),
  ),
  per: orNull(
    Type.String({
      maxLength: textMax,
      description:
        'Unit of time of `RATE` (default `PT1S`) and `INTEGRAL` (default `PT1H`), as an ISO-8601 duration.',
    }),
  ),
  state: orNull(
    Type.Unsafe<string | number | boolean>({
      type: ['string', 'number', 'boolean'],
      description: 'Value that `TIME_IN_STATE` looks for. Required for it.',
    }),
  ),
  resets: orNull(
    Type.Unsafe<'GUARDED' | 'ALL'>({
      ...oneOf(['GUARDED', 'ALL']),
      description:
        'How `INCREASE` and `RATE` treat a lower value. `ALL` counts it as a counter that restarted at 0. `GUARDED`, the default, ignores drops of at most 10 % and zeros after which the counter continues.',
    }),
  ),
};

export const accumulation = {
  topic,
  dataKey,
  accumulator: accumulatorOf(
    'How the values of the interval or of a bucket are reduced to one number. `P95` and the like are quantiles. `NONE` is an alias of `LAST`. `FIRST`, `LAST`, and `MODE` of a text are null.',
  ),
  interval: Type.Object({
    from: time('ISO-8601 date-time, inclusive.'),
    to: time('ISO-8601 date-time, exclusive.'),
  }),
  timeZone,
  ...orderMembers,
};
/** What a request reads of each sample: exactly one of the two. */
export const asked = {
  dataKey: Type.Optional(dataKey),
  expression: orNull(expressionText),
};
const askedAccumulation = { ...accumulation, ...asked };
export const bucketInterval = orNull(
  Type.String({
    maxLength: textMax,
    description:
      'ISO-8601 duration such as `PT1H` or `P1D`. Defaults to `PT1H`. Use at most 730 buckets; the limit is 10,000.',
  }),
);

export const deviceParams = Type.Object({
  deviceId: Type.String({ description: 'Service ID of the device.' }),
});
export const tagParams = Type.Object({ tagId: Type.String() });
export const placeParams = Type.Object({
  placeId: Type.String({ description: 'ID of the place.' }),
});

const bounds = {
  gt: orNull(time('Later than this ISO-8601 date-time.')),
  gte: orNull(time('At or after this ISO-8601 date-time.')),
  lt: orNull(time('Earlier than this ISO-8601 date-time.')),
  lte: orNull(time('At or before this ISO-8601 date-time.')),
};
// An operator that does not exist must not silently answer everything.
const timestampBounds = Type.Object(bounds, { additionalProperties: false });

const sampleQueryBody = namedObject('SampleQueryBody', {
  topic: orNull(
    Type.String({
      maxLength: textMax,
      description: 'Topic, or `*` for all. Defaults to `default`.',
    }),
  ),
  timestamp: orNull(timestampBounds),
  limit: orNull(
    Type.Integer({ description: 'Maximum number of samples, 1 to 10,000. Defaults to 8,000.' }),
  ),
  skip: orNull(
    Type.Integer({ maximum: 1_000_000_000, description: 'Number of newest samples to skip.' }),
  ),
});

const sampleQueryParameters = Type.Object({
  topic: Type.Optional(
    Type.String({
      maxLength: textMax,
      description: 'Topic, or `*` for all. Defaults to `default`.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ description: 'Maximum number of samples, 1 to 10,000. Defaults to 8,000.' }),
  ),
  skip: Type.Optional(Type.Integer({ maximum: 1_000_000_000 })),
  'timestamp.gt': Type.Optional(time('Later than this ISO-8601 date-time.')),
  'timestamp.gte': Type.Optional(time('At or after this ISO-8601 date-time.')),
  'timestamp.lt': Type.Optional(time('Earlier than this ISO-8601 date-time.')),
  'timestamp.lte': Type.Optional(time('At or before this ISO-8601 date-time.')),
});

const topicParameter = Type.Object({
  topic: Type.Optional(
    Type.String({ maxLength: textMax, description: 'One topic. Defaults to all (`*`).' }),
  ),
});

const sampleSchema = namedObject('Sample', {
  timestamp: Type.String({ format: 'date-time' }),
  deviceId: Type.String({ description: 'Service ID of the device.' }),
  svcDeviceId: Type.String({ description: 'Alias of `deviceId`.' }),
  akenzaDeviceId: Type.Optional(
    Type.String({ description: 'Alias of `deviceId`, for older clients.' }),
  ),
  topic: Type.String(),
  data: Type.Unsafe<JsonObject>({ type: 'object' }),
  meta: Type.Optional(Type.Unsafe<JsonObject>({ type: 'object' })),
});

const future = Type.Optional(
  Type.Literal(true, {
    description:
      'Present and true if the sample is dated more than a day ahead. Check the clock of the device.',
  }),
);

const latestSampleSchema = namedObject('LatestSample', {
  ...sampleSchema.properties,
  future,
  incomplete: Type.Optional(
    Type.Literal(true, { description: 'Newer samples may exist but are unreadable.' }),
  ),
});

/** Devices of one answer with latest samples. */
const latestDevicesMax = 1_000;
const namesMax = 100;
const nameList = (description: string) =>
  orNull(
    Type.Array(Type.String({ minLength: 1, maxLength: textMax }), {
      minItems: 1,
      maxItems: namesMax,
      description,
    }),
  );

export const latestSamplesBody = namedObject('LatestSamplesBody', {
  deviceIds: orNull(
    Type.Array(Type.String({ maxLength: textMax }), {
      minItems: 1,
      maxItems: latestDevicesMax,
      description:
        'Service device IDs. Unknown IDs are omitted. Set exactly one of `deviceIds`, `workspaceId`, `tagId`, and `placeId`.',
    }),
  ),
  workspaceId: orNull(Type.String({ description: 'Selects all devices in a workspace.' })),
  tagId: orNull(Type.String({ description: 'Selects all devices of a tag.' })),
  placeId: orNull(Type.String({ description: 'Selects all devices at a place and below it.' })),
  expression: Type.Optional(
    filterExpression('Filter expression for the devices of the workspace, tag, or place.'),
  ),
  topics: nameList('Topics. Defaults to all.'),
  keys: nameList('Data keys to return, matched as in a KPI query. Defaults to all data.'),
  at: orNull(
    time(
      'ISO-8601 date-time. Returns the samples that were the newest at that time, itself included.',
    ),
  ),
  within: orNull(
    Type.String({
      maxLength: textMax,
      description:
        'Only with `at`: ISO-8601 duration up to `P366D`. Older samples are not returned. Defaults to `P7D`.',
    }),
  ),
  page: orNull(pageParameters.page),
  size: orNull(pageParameters.size),
});

const latestOfDevice = namedObject('DeviceLatestSamples', {
  deviceId: Type.String({ description: 'Service ID of the device.' }),
  samples: Type.Array(
    namedObject('LatestTopicSample', {
      topic: Type.String(),
      timestamp: Type.String({ format: 'date-time' }),
      data: Type.Unsafe<JsonObject>({ type: 'object' }),
      future,
    }),
    {
      description:
        'Newest sample of each topic, newest first. A sample dated more than a day ahead is returned only if the topic has no other.',
    },
  ),
  values: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        value: Type.Unsafe<Json>({ description: 'Last value.' }),
        timestamp: Type.String({ format: 'date-time' }),
        topic: Type.String(),
        future,
      }),
      { description: 'Last value of each data key that is not null. Returned with `keys`.' },
    ),
  ),
});

const latestPage = pageSchema(latestOfDevice);
const latestSamplesPage = Type.Unsafe<Static<typeof latestPage> & { incomplete?: true }>({
  ...latestPage,
  properties: {
    ...(latestPage as unknown as { properties: object }).properties,
    incomplete: Type.Optional(
      Type.Literal(true, { description: 'Newer samples may exist but are unreadable.' }),
    ),
  },
});

export const kpiBody = namedObject('KpiBody', askedAccumulation);
const deviceIds = Type.Array(Type.String({ maxLength: textMax }), {
  minItems: 1,
  maxItems: deviceIdsMax,
  description: 'Service device IDs. Unknown IDs are omitted from the response.',
});
export const batchKpiBody = namedObject('BatchKpiBody', { ...askedAccumulation, deviceIds });
export const seriesBody = namedObject('SeriesBody', { ...askedAccumulation, bucketInterval });
export const batchSeriesBody = namedObject('BatchSeriesBody', {
  ...askedAccumulation,
  bucketInterval,
  deviceIds,
});

const placeCombinations = ['AVG', 'SUM', 'MIN', 'MAX'] as const;
export const placeValuesBody = namedObject('PlaceValuesBody', {
  workspaceId: Type.String(),
  parentId: orNull(
    Type.String({
      description:
        'Selects the places directly below this one; null selects the top of the tree. Set either `parentId` or `placeIds`.',
    }),
  ),
  placeIds: Type.Optional(
    Type.Array(Type.String(), {
      minItems: 1,
      maxItems: 1_000,
      description: 'Places. Those that do not exist are omitted.',
    }),
  ),
  ...askedAccumulation,
  combine: Type.Unsafe<(typeof placeCombinations)[number]>({
    ...oneOf(placeCombinations),
    description: 'How the KPIs of the devices become one number.',
  }),
});
export const placeValueSchema = namedObject('PlaceValue', {
  placeId: Type.String(),
  value: orNull(Type.Number({ description: 'Null if no device has a value.' })),
  devices: Type.Integer({ description: 'Number of devices at the place and below it.' }),
  withValue: Type.Integer({ description: 'Number of devices that have a value.' }),
});

/** Pages of KPIs are in the order of the devices. */
export const kpiPageQuery = Type.Object(pageParameters);

const kpi = Type.Union([Type.Number(), Type.Null()]);
const coverageText =
  'which lies between samples, 0 to 1. Only for accumulators that depend on the order of time.';
const approximate = Type.Optional(
  Type.Literal(true, {
    description:
      'Present and true if a quantile is an estimate within 0.5 %, because it is of more than 20,000 values.',
  }),
);
const kpiCoverage = Type.Optional(
  Type.Number({ description: `Share of the interval ${coverageText}` }),
);
export const kpiSchema = namedObject('Kpi', {
  deviceId: Type.String(),
  topic: Type.String(),
  dataKey: Type.String(),
  kpi,
  value: Type.Optional(
    Type.String({
      description: 'Result of `FIRST`, `LAST`, or `MODE` if it is a text. `kpi` is null then.',
    }),
  ),
  coverage: kpiCoverage,
  approximate,
});
const accumulatedCoverage = Type.Optional(
  Type.Number({ description: 'Mean coverage of the devices.' }),
);
export const tagKpiSchema = namedObject('TagKpi', {
  kpi,
  tagId: Type.String(),
  topic: Type.String(),
  dataKey: Type.String(),
  coverage: accumulatedCoverage,
  approximate,
});
export const placeKpiSchema = namedObject('PlaceKpi', {
  kpi,
  placeId: Type.String(),
  topic: Type.String(),
  dataKey: Type.String(),
  coverage: accumulatedCoverage,
  approximate,
});
export const batchKpiSchema = namedObject('BatchKpi', {
  kpi,
  topic: Type.String(),
  dataKey: Type.String(),
  coverage: accumulatedCoverage,
  approximate,
  deviceIds: Type.Array(Type.String()),
});
export const seriesSchema = namedObject('TimeSeries', {
  deviceId: Type.String(),
  topic: Type.String(),
  dataKey: Type.String(),
  dataPoints: Type.Array(kpi, { description: 'One value per bucket. Null for empty buckets.' }),
  timestamps: Type.Array(Type.String({ format: 'date-time' }), {
    description: 'Start time of each bucket.',
  }),
  coverage: Type.Optional(
    Type.Array(Type.Number(), { description: `Share of each bucket ${coverageText}` }),
  ),
  approximate,
});

export const rawSeriesBody = namedObject('ValueSeriesBody', {
  topic,
  dataKey,
  timestamp: orNull(timestampBounds),
});
export const aggregationBody = namedObject('AggregatedSeriesBody', {
  data: Type.Object({ key: dataKey, topic }),
  timestamp: Type.Object({ from: time('ISO-8601 date-time.'), to: time('ISO-8601 date-time.') }),
  bucket: Type.Object({
    interval: Type.String({ maxLength: textMax, description: 'ISO-8601 duration.' }),
    aggregation: accumulatorOf('How the values of a bucket are reduced to one number.'),
  }),
  timeZone,
  ...orderMembers,
});
export const aggregationSchema = namedObject('AggregatedSeries', {
  data: Type.Object({
    dataPoints: Type.Array(kpi),
    timestamps: Type.Array(Type.String({ format: 'date-time' })),
  }),
});

const exportParameters = Type.Object({
  format: Type.Optional(
    Type.Union([Type.Literal('csv'), Type.Literal('excel'), Type.Literal('ndjson')], {
      default: 'ndjson',
      description:
        'Format of the file. `excel` is CSV for Excel, with a byte order mark, semicolons, and times in `timeZone`. Defaults to `ndjson`.',
    }),
  ),
  timeZone: Type.Optional(
    Type.String({ maxLength: textMax, description: 'IANA time zone of `excel`. Defaults to UTC.' }),
  ),
  topic: Type.Optional(
    Type.String({ maxLength: textMax, description: 'One topic. Defaults to all (`*`).' }),
  ),
  from: Type.Optional(time('ISO-8601 date-time, inclusive.')),
  to: Type.Optional(time('ISO-8601 date-time, exclusive.')),
});

const inferredSchema = namedObject('InferredSchema', {
  $id: Type.String(),
  $schema: Type.String(),
  title: Type.String(),
  type: Type.Literal('object'),
  properties: Type.Unsafe<JsonObject>({ type: 'object' }),
});
const inferredSchemas = named(
  'InferredSchemas',
  Type.Unsafe<Readonly<Record<string, Static<typeof inferredSchema>>>>({
    type: 'object',
    additionalProperties: inferredSchema,
  }),
);

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
      'Returns the newest sample per topic for a list of devices, a tag, a place, or a workspace, now or at a past time.',
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
