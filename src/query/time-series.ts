// Time series: one number per bucket of an interval (interface 4.4 and 4.7, contract 21).
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import {
  type Accumulation,
  type AccumulationBody,
  type DeviceQuery,
  type QueriedDevice,
  readAccumulation,
  zoneOf,
} from './accumulation.ts';
import { type BucketPlan, bucketIntervalDefault, planEnds, seriesBuckets } from './bucket-plan.ts';
import {
  answersInOrder,
  answersOfTallies,
  type BucketAnswers,
  bucketRequest,
  talliesAtOnce,
} from './bucket-answers.ts';
import { type QueryParts, slotsFor } from './kpi.ts';
import { accumulatorOf } from './summaries/accumulators.ts';
import { isFold } from './summaries/folds.ts';

interface SeriesBody extends AccumulationBody {
  /** ISO-8601 duration, PT1H when absent. */
  readonly bucketInterval?: string | null;
}

export interface TimeSeries {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  /** Null for a bucket without any value. */
  readonly dataPoints: (number | null)[];
  /** The share of each bucket that values say something of; only where their order counts. */
  readonly coverage?: number[];
  /** Whether any of the numbers is an estimate. */
  readonly approximate?: true;
  /** The start of each bucket. Series of one plan have the same list. */
  readonly starts: readonly EpochMs[];
}

/**
 * The most points of one answer for many devices; above, fewer devices or longer buckets must be
 * asked for.
 */
export const seriesPointsMax = 250_000;
/**
 * Tallies that one call of the store returns, so that a long list does not delay other requests.
 */
const talliesPerCall = 50_000;

/** The series of one device. Refuses (400) what `readAccumulation` and `seriesBuckets` refuse. */
export async function deviceSeries(
  device: QueriedDevice,
  query: Omit<DeviceQuery<SeriesBody>, 'devices'>,
  parts: QueryParts,
): Promise<TimeSeries> {
  const [series] = await seriesOfDevices({ ...query, devices: [device] }, parts);
  if (series === undefined) throw new Error('A device has no series');
  return series;
}

/**
 * One series per device, in their order (contract 36). Without a time zone in the request, each
 * device has the buckets of its workspace's zone. Refuses (400) what `deviceSeries` refuses, and
 * more than `seriesPointsMax` points in all.
 */
export async function seriesOfDevices(
  query: DeviceQuery<SeriesBody>,
  parts: QueryParts,
): Promise<TimeSeries[]> {
  const { devices, source, body } = query;
  const accumulation = readAccumulation(body, parts.openZone);
  const plans = new Map<string, BucketPlan>();
  let points = 0;
  for (const device of devices) {
    let plan = plans.get(device.workspaceId);
    if (plan === undefined) {
      const zone = await zoneOf(body.timeZone, device, parts.calendarOf, parts.openZone);
      plan = seriesBuckets(
        source,
        accumulation.interval,
        body.bucketInterval ?? bucketIntervalDefault,
        zone,
      );
      plans.set(device.workspaceId, plan);
    }
    points += plan.starts.length;
  }
  if (points > seriesPointsMax && devices.length > 1) {
    throw problem('tooManyPoints', { points, pointsMax: seriesPointsMax, devices: devices.length });
  }
  const series = new Map<QueriedDevice, TimeSeries>();
  const counted = { values: 0 };
  for (const [workspaceId, plan] of plans) {
    const planned = devices.filter((device) => device.workspaceId === workspaceId);
    const found = await plannedSeries(
      { ...query, devices: planned },
      accumulation,
      plan,
      counted,
      parts,
    );
    for (const one of found) series.set(...one);
  }
  return devices.flatMap((device) => series.get(device) ?? []);
}

/** The series of devices that share one plan. */
async function plannedSeries(
  { devices, now }: DeviceQuery,
  accumulation: Accumulation,
  plan: BucketPlan,
  counted: { values: number },
  parts: QueryParts,
): Promise<[QueriedDevice, TimeSeries][]> {
  const { topic, dataKey } = accumulation;
  const { starts, edges } = plan;
  const { accumulator } = accumulation;
  const seriesOf = (device: QueriedDevice, answers: BucketAnswers): [QueriedDevice, TimeSeries] => [
    device,
    { deviceId: device.id, topic, dataKey, ...pointsOfPlaces(answers, plan), starts },
  ];
  if (isFold(accumulator)) {
    const found = await answersInOrder(
      devices,
      accumulation,
      accumulator,
      plan,
      now,
      parts.store,
      counted,
    );
    return devices.flatMap((device, i) => {
      const answers = found[i];
      return answers === undefined ? [] : [seriesOf(device, answers)];
    });
  }
  const slotsOf = await slotsFor(devices, accumulator, { ...planEnds(plan), now }, parts);
  const most = talliesAtOnce(accumulatorOf(accumulator).facet, talliesPerCall);
  const devicesACall = Math.max(1, Math.floor(most / edges.length));
  const series: [QueriedDevice, TimeSeries][] = [];
  for (let start = 0; start < devices.length; start += devicesACall) {
    const some = devices.slice(start, start + devicesACall);
    const found = await parts.store.buckets(bucketRequest(some, accumulation, accumulator, plan));
    for (const [i, device] of some.entries()) {
      const slots = (from: EpochMs, to: EpochMs) => slotsOf(device, from, to);
      series.push(seriesOf(device, answersOfTallies(accumulator, found[i] ?? [], plan, slots)));
    }
  }
  return series;
}

/** By bucket of the plan. */
export function pointsOfPlaces(
  { values, coverage, isApproximate }: BucketAnswers,
  { places }: BucketPlan,
): {
  readonly dataPoints: (number | null)[];
  readonly coverage?: number[];
  readonly approximate?: true;
} {
  return {
    dataPoints: places.map((place) => values[place] ?? null),
    ...(coverage !== undefined && { coverage: places.map((place) => coverage[place] ?? 0) }),
    ...(isApproximate && { approximate: true as const }),
  };
}
