// API schemas of the series of many devices, topics and keys (contract 37).
import Type from 'typebox';
import { namedObject } from './named.ts';
import { accumulation, bucketInterval, dataKey, timeZone, topic } from './queries.ts';
import { list, oneOf, optional } from './record-fields.ts';

/** Series of one request. */
const seriesMax = 1_000;
const accumulatorsMax = 12;

const wantedSeries = namedObject('WantedSeries', {
  deviceId: Type.String({ maxLength: 200, description: 'Service ID of the device.' }),
  topic,
  dataKey,
  accumulators: Type.Array(accumulation.accumulator, {
    minItems: 1,
    maxItems: accumulatorsMax,
    description:
      'Accumulators that share a read, such as AVG, MIN, and MAX, cost little more than one.',
  }),
});

export const manySeriesBody = namedObject('ManySeriesBody', {
  series: Type.Array(wantedSeries, {
    minItems: 1,
    maxItems: seriesMax,
    description: 'At most 1,000 series and 100,000 points. Unknown devices are omitted.',
  }),
  interval: accumulation.interval,
  bucketInterval: Type.Optional(bucketInterval),
  timeZone: Type.Optional(timeZone),
  source: optional(oneOf(['raw', 'hourly'])),
});

const point = Type.Union([Type.Number(), Type.Null()]);

export const metricSeriesSchema = namedObject('MetricSeries', {
  deviceId: Type.String(),
  topic: Type.String(),
  dataKey: Type.String(),
  timestamps: list(Type.String({ format: 'date-time', description: 'Start time of each bucket.' })),
  dataPoints: Type.Unsafe<Readonly<Record<string, readonly (number | null)[]>>>(
    Type.Record(Type.String(), Type.Array(point), {
      description: 'Values per bucket by accumulator. Null for empty buckets.',
    }),
  ),
});
