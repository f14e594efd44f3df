// Time series: one number per bucket of an interval (interface 4.4 and 4.7, contract 21).
import { accumulators } from '../accumulators/accumulator-table.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import { type AccumulationBody, type QueriedDevice, readAccumulation, zoneOf } from './accumulation.ts';
import { bucketIntervalDefault, type Source, seriesBuckets } from './bucket-plan.ts';
import { bucketRequest, type QueryParts, slotsFor } from './kpi.ts';

export interface SeriesBody extends AccumulationBody {
  /** ISO-8601 duration, PT1H when absent. */
  readonly bucketInterval?: string | null;
}

export interface TimeSeries {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  /** Null for a bucket without any value. */
  readonly dataPoints: (number | null)[];
  /** The start of each bucket. */
  readonly timestamps: string[];
}

/** The series of one device. Refuses (400) what `readAccumulation` and `seriesBuckets` refuse. */
export async function deviceSeries(
  device: QueriedDevice,
  source: Source,
  body: SeriesBody,
  now: EpochMs,
  parts: QueryParts,
): Promise<TimeSeries> {
  const accumulation = readAccumulation(body, parts.openZone);
  const zone = await zoneOf(body.timeZone, device, parts.calendarOf, parts.openZone);
  const plan = seriesBuckets(source, accumulation.interval, body.bucketInterval ?? bucketIntervalDefault, zone);
  const slotsOf = await slotsFor([device], accumulation, plan, now, parts);
  const { finish } = accumulators[accumulation.accumulator];
  const [partials = []] = await parts.store.buckets(bucketRequest([device], accumulation, plan));
  const dataPoints = plan.places.map((place) => {
    const partial = partials[place];
    return partial === undefined ? null : finish(partial, slotsOf(device, plan.edges[place]!, plan.edges[place + 1]!));
  });
  const { topic, dataKey } = accumulation;
  return { deviceId: device.id, topic, dataKey, dataPoints, timestamps: plan.starts.map(formatInstant) };
}
