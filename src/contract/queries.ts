// API schemas of data queries: samples, KPIs and time series (interface 4.4 to 4.7, contract 20 and 21).
import Type, { type Static } from 'typebox';
import type { Json, JsonObject } from '../model/json.ts';
import { accumulatorNames, lastAlias } from '../summaries/accumulators.ts';
import { pageParameters } from './list-parameters.ts';
import { named, namedObject } from './named.ts';
import { pageSchema } from './page-envelope.ts';

const textMax = 1_000;
const deviceIdsMax = 1_000;
// Sent by clients that fill in what they leave open.
const orNull = <T extends Type.TSchema>(schema: T) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

const time = (description: string) => Type.String({ maxLength: textMax, description });
export const topic = Type.String({
  minLength: 1,
  maxLength: textMax,
  description: 'Topic of the samples',
});
export const dataKey = Type.String({
  minLength: 1,
  maxLength: textMax,
  description:
    'Key of the value; first looked up as it stands, then as a path such as position.latitude or, into arrays, list.0.key',
});
export const timeZone = orNull(
  Type.String({
    maxLength: textMax,
    description: "IANA time zone of the buckets; the workspace's, else UTC",
  }),
);
const accumulatorList = accumulatorNames
  .map((name) => (name === 'LAST' ? `LAST (or ${lastAlias})` : name))
  .join(', ');
export const accumulation = {
  topic,
  dataKey,
  accumulator: Type.String({
    maxLength: textMax,
    description: `${accumulatorList}. FIRST and LAST of a value that is neither number nor boolean are null`,
  }),
  interval: Type.Object({
    from: time('ISO-8601 date-time, inclusive'),
    to: time('ISO-8601 date-time, exclusive'),
  }),
  timeZone,
};
export const bucketInterval = orNull(
  Type.String({
    maxLength: textMax,
    description:
      'ISO-8601 duration, for example PT1H or P1D; PT1H when absent. Choose it so that at most 730 buckets are answered; 10,000 are the limit',
  }),
);

export const deviceParams = Type.Object({
  deviceId: Type.String({ description: 'Service device id' }),
});
export const tagParams = Type.Object({ tagId: Type.String() });

const bounds = {
  gt: orNull(time('After this ISO-8601 date-time')),
  gte: orNull(time('At or after')),
  lt: orNull(time('Before')),
  lte: orNull(time('At or before')),
};
// An operator that does not exist must not silently answer everything.
const timestampBounds = Type.Object(bounds, { additionalProperties: false });

export const sampleQueryBody = namedObject('SampleQueryBody', {
  topic: orNull(
    Type.String({ maxLength: textMax, description: '`default` when absent, `*` for all topics' }),
  ),
  timestamp: orNull(timestampBounds),
  limit: orNull(Type.Integer({ description: '1 to 10,000; 8,000 when absent' })),
  skip: orNull(
    Type.Integer({ maximum: 1_000_000_000, description: 'Samples to leave out, newest first' }),
  ),
});

export const sampleQueryParameters = Type.Object({
  topic: Type.Optional(
    Type.String({ maxLength: textMax, description: '`default` when absent, `*` for all topics' }),
  ),
  limit: Type.Optional(Type.Integer({ description: '1 to 10,000; 8,000 when absent' })),
  skip: Type.Optional(Type.Integer({ maximum: 1_000_000_000 })),
  'timestamp.gt': Type.Optional(time('After this ISO-8601 date-time')),
  'timestamp.gte': Type.Optional(time('At or after')),
  'timestamp.lt': Type.Optional(time('Before')),
  'timestamp.lte': Type.Optional(time('At or before')),
});

export const topicParameter = Type.Object({
  topic: Type.Optional(
    Type.String({ maxLength: textMax, description: 'One topic; all topics when absent or `*`' }),
  ),
});

export const sampleSchema = namedObject('Sample', {
  timestamp: Type.String({ format: 'date-time' }),
  deviceId: Type.String({ description: 'Service device id' }),
  svcDeviceId: Type.String({ description: 'The same' }),
  akenzaDeviceId: Type.Optional(Type.String({ description: 'The same, for older clients' })),
  topic: Type.String(),
  data: Type.Unsafe<JsonObject>({ type: 'object' }),
  meta: Type.Optional(Type.Unsafe<JsonObject>({ type: 'object' })),
});

const future = Type.Optional(
  Type.Literal(true, { description: 'Dated more than a day ahead: check the clock of the device' }),
);

export const latestSampleSchema = namedObject('LatestSample', {
  ...sampleSchema.properties,
  future,
  incomplete: Type.Optional(
    Type.Literal(true, { description: 'Newer samples may be there but cannot be read' }),
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
        'Service device ids; unknown ones are omitted. The body has this, `workspaceId` or `tagId`',
    }),
  ),
  workspaceId: orNull(Type.String({ description: 'All devices of a workspace' })),
  tagId: orNull(Type.String({ description: 'All devices of a tag' })),
  expression: Type.Optional(
    Type.Unknown({
      description: 'A filter expression (interface 2.9) for the devices of a workspace or tag',
    }),
  ),
  topics: nameList('Topics; all when absent'),
  keys: nameList('Data keys of the answer, looked up as in a KPI; all data when absent'),
  page: orNull(pageParameters.page),
  size: orNull(pageParameters.size),
});

const latestOfDevice = namedObject('DeviceLatestSamples', {
  deviceId: Type.String({ description: 'Service device id' }),
  samples: Type.Array(
    namedObject('LatestTopicSample', {
      topic: Type.String(),
      timestamp: Type.String({ format: 'date-time' }),
      data: Type.Unsafe<JsonObject>({ type: 'object' }),
      future,
    }),
    {
      description:
        'The newest sample of each topic, newest first. One that is dated more than a day ahead only if the topic has no other',
    },
  ),
  values: Type.Optional(
    Type.Record(
      Type.String(),
      Type.Object({
        value: Type.Unsafe<Json>({ description: 'Not null' }),
        timestamp: Type.String({ format: 'date-time' }),
        topic: Type.String(),
        future,
      }),
      { description: 'With `keys`: the last value of each key that is not null' },
    ),
  ),
});

const latestPage = pageSchema(latestOfDevice);
export const latestSamplesPage = Type.Unsafe<Static<typeof latestPage> & { incomplete?: true }>({
  ...latestPage,
  properties: {
    ...(latestPage as unknown as { properties: object }).properties,
    incomplete: Type.Optional(
      Type.Literal(true, { description: 'Newer samples may exist but cannot be read' }),
    ),
  },
});

export const kpiBody = namedObject('KpiBody', accumulation);
const deviceIds = Type.Array(Type.String({ maxLength: textMax }), {
  minItems: 1,
  maxItems: deviceIdsMax,
  description: 'Service device ids; unknown ones are left out of the answer',
});
export const batchKpiBody = namedObject('BatchKpiBody', { ...accumulation, deviceIds });
export const seriesBody = namedObject('SeriesBody', { ...accumulation, bucketInterval });
export const batchSeriesBody = namedObject('BatchSeriesBody', {
  ...accumulation,
  bucketInterval,
  deviceIds,
});

/** Pages of KPIs are in the order of the devices. */
export const kpiPageQuery = Type.Object(pageParameters);

const kpi = Type.Union([Type.Number(), Type.Null()]);
export const kpiSchema = namedObject('Kpi', {
  deviceId: Type.String(),
  topic: Type.String(),
  dataKey: Type.String(),
  kpi,
});
export const tagKpiSchema = namedObject('TagKpi', {
  kpi,
  tagId: Type.String(),
  topic: Type.String(),
  dataKey: Type.String(),
});
export const batchKpiSchema = namedObject('BatchKpi', {
  kpi,
  topic: Type.String(),
  dataKey: Type.String(),
  deviceIds: Type.Array(Type.String()),
});
export const seriesSchema = namedObject('TimeSeries', {
  deviceId: Type.String(),
  topic: Type.String(),
  dataKey: Type.String(),
  dataPoints: Type.Array(kpi, { description: 'One number per bucket, null where it has no value' }),
  timestamps: Type.Array(Type.String({ format: 'date-time' }), {
    description: 'The start of each bucket',
  }),
});

export const rawSeriesBody = namedObject('ValueSeriesBody', {
  topic,
  dataKey,
  timestamp: orNull(timestampBounds),
});
export const rawSeriesSchema = namedObject('ValueSeries', {
  dataPoints: Type.Array(
    // As JSON Schema 2020-12 writes a tuple.
    Type.Unsafe<[Json, string]>({
      type: 'array',
      prefixItems: [{ description: 'The value' }, { type: 'string', format: 'date-time' }],
      items: false,
      minItems: 2,
    }),
  ),
  key: Type.String(),
});
export const aggregationBody = namedObject('AggregatedSeriesBody', {
  data: Type.Object({ key: dataKey, topic }),
  timestamp: Type.Object({ from: time('ISO-8601 date-time'), to: time('ISO-8601 date-time') }),
  bucket: Type.Object({
    interval: Type.String({ maxLength: textMax, description: 'ISO-8601 duration' }),
    aggregation: Type.String({ maxLength: textMax, description: 'Accumulator' }),
  }),
  timeZone,
});
export const aggregationSchema = namedObject('AggregatedSeries', {
  data: Type.Object({
    dataPoints: Type.Array(kpi),
    timestamps: Type.Array(Type.String({ format: 'date-time' })),
  }),
});

export const exportParameters = Type.Object({
  format: Type.Optional(
    Type.Union([Type.Literal('csv'), Type.Literal('excel'), Type.Literal('ndjson')], {
      default: 'ndjson',
      description: 'excel is CSV that Excel opens: with a mark, semicolons and times of timeZone',
    }),
  ),
  timeZone: Type.Optional(
    Type.String({ maxLength: textMax, description: 'With excel: an IANA name; UTC when absent' }),
  ),
  topic: Type.Optional(
    Type.String({ maxLength: textMax, description: 'One topic; all topics when absent or `*`' }),
  ),
  from: Type.Optional(time('ISO-8601 date-time, inclusive')),
  to: Type.Optional(time('ISO-8601 date-time, exclusive')),
});

const inferredSchema = namedObject('InferredSchema', {
  $id: Type.String(),
  $schema: Type.String(),
  title: Type.String(),
  type: Type.Literal('object'),
  properties: Type.Unsafe<JsonObject>({ type: 'object' }),
});
export const inferredSchemas = named(
  'InferredSchemas',
  Type.Unsafe<Readonly<Record<string, Static<typeof inferredSchema>>>>({
    type: 'object',
    additionalProperties: inferredSchema,
  }),
);
