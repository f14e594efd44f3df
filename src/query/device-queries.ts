// Queries of devices: KPIs, one number per device or one for all of them (interface 4.4 and 4.5), and time series, one number per bucket of an interval (interface 4.4 and 4.7, contract 21).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import type { ValuesRequest } from '../storage/samples/sample-store.ts';
import {
  type Accumulation,
  type AccumulationBody,
  type BucketStore,
  type DeviceQuery,
  type QueriedDevice,
  readAccumulation,
} from './accumulation.ts';
import {
  answersInOrder,
  answersOfTallies,
  type BucketAnswers,
  bucketRequest,
  talliesAtOnce,
} from './bucket-answers.ts';
import {
  type BucketPlan,
  bucketIntervalDefault,
  planEnds,
  seriesBuckets,
  singleBucket,
} from './bucket-plan.ts';
import type { Calendars } from './calendars.ts';
import { accumulatorOf } from './summaries/accumulators.ts';
import { addTerm, type CompensatedSum, sumOf } from './summaries/compensated-sum.ts';
import { isFold } from './summaries/folds.ts';
import { type ValueBatch, columnValueAt } from './summaries/ordered-values.ts';

export interface DeviceKpi {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  readonly kpi: number | null;
  /** A text that is the answer; `kpi` is null. */
  readonly value?: string;
  /** The share of the interval that values say something of; only where their order counts. */
  readonly coverage?: number;
  /** Whether the number is an estimate. */
  readonly approximate?: true;
}

// A store call never covers more devices than this, so that a large tag leaves room for other
// requests in between.
const kpisPerCall = 500;

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

export class DeviceQueries {
  readonly store: BucketStore;
  readonly calendars: Calendars;

  constructor(store: BucketStore, calendars: Calendars) {
    this.store = store;
    this.calendars = calendars;
  }

  /** One answer per device, in their order. Refuses (400) what `readAccumulation` refuses. */
  async kpis(query: DeviceQuery): Promise<DeviceKpi[]> {
    const accumulation = readAccumulation(query.body, this.calendars.openZone);
    const { topic, dataKey } = accumulation;
    const kpis = await this.#kpisOf(query, accumulation);
    return query.devices.map(({ id }, i) => ({
      deviceId: id,
      topic,
      dataKey,
      ...(kpis[i] ?? { kpi: null }),
    }));
  }

  /** The sum of the devices' KPIs, null when none has any (interface 4.5, contract decisions). */
  async total(query: DeviceQuery): Promise<Omit<DeviceKpi, 'deviceId' | 'value'>> {
    const accumulation = readAccumulation(query.body, this.calendars.openZone);
    const { topic, dataKey } = accumulation;
    const kpis = await this.#kpisOf(query, accumulation);
    const total: CompensatedSum = { sum: 0, sumError: 0 };
    let known = 0;
    let covered = 0;
    for (const { kpi, coverage } of kpis) {
      covered += coverage ?? 0;
      if (kpi === null) continue;
      known++;
      addTerm(total, kpi);
    }
    return {
      kpi: known === 0 ? null : sumOf(total),
      topic,
      dataKey,
      ...(kpis.some(({ coverage }) => coverage !== undefined) && {
        coverage: covered / kpis.length,
      }),
      ...(kpis.some(({ approximate }) => approximate) && { approximate: true as const }),
    };
  }

  async #kpisOf(
    { devices, source, now }: DeviceQuery,
    accumulation: Accumulation,
  ): Promise<Answer[]> {
    const plan = singleBucket(source, accumulation.interval);
    const { from, to } = planEnds(plan);
    const { accumulator } = accumulation;
    if (isFold(accumulator)) {
      const found = await answersInOrder(devices, accumulation, accumulator, plan, now, this.store);
      return found.map(kpiOf);
    }
    const slotsOf = await this.calendars.slotsOf(devices, accumulator, { from, to, now });
    const { facet, textOf } = accumulatorOf(accumulator);
    const kpis: Answer[] = [];
    for (let start = 0; start < devices.length; start += kpisPerCall) {
      const some = devices.slice(start, start + kpisPerCall);
      // What is in memory is answered within the same turn of the event loop.
      if (start > 0) await nextTurn();
      const found = await this.store.buckets(bucketRequest(some, accumulation, accumulator, plan));
      for (const [i, device] of some.entries()) {
        const tally = found[i]?.[0] ?? facet.start();
        const slots = (start: EpochMs, end: EpochMs) => slotsOf(device, start, end);
        const answer = kpiOf(answersOfTallies(accumulator, [tally], plan, slots));
        const isNoNumber = answer.kpi === null && tally.count > 0;
        const text = isNoNumber
          ? (textOf?.(tally) ?? (await textAtEnd(device, accumulation, plan, this.store)))
          : undefined;
        kpis.push(text === undefined ? answer : { ...answer, value: text });
      }
    }
    return kpis;
  }

  /** The series of one device. Refuses (400) what `readAccumulation` and `seriesBuckets` refuse. */
  async seriesOf(
    device: QueriedDevice,
    query: Omit<DeviceQuery<SeriesBody>, 'devices'>,
  ): Promise<TimeSeries> {
    const [series] = await this.series({ ...query, devices: [device] });
    if (series === undefined) throw new Error('A device has no series');
    return series;
  }

  /**
   * One series per device, in their order (contract 36). Without a time zone in the request, each
   * device has the buckets of its workspace's zone. Refuses (400) what `seriesOf` refuses, and
   * more than `seriesPointsMax` points in all.
   */
  async series(query: DeviceQuery<SeriesBody>): Promise<TimeSeries[]> {
    const { devices, source, body } = query;
    const accumulation = readAccumulation(body, this.calendars.openZone);
    const plans = new Map<string, BucketPlan>();
    let points = 0;
    for (const device of devices) {
      let plan = plans.get(device.workspaceId);
      if (plan === undefined) {
        const zone = await this.calendars.zoneOf(body.timeZone, device.workspaceId);
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
      throw problem('tooManyPoints', {
        points,
        pointsMax: seriesPointsMax,
        devices: devices.length,
      });
    }
    const series = new Map<QueriedDevice, TimeSeries>();
    const counted = { values: 0 };
    for (const [workspaceId, plan] of plans) {
      const planned = devices.filter((device) => device.workspaceId === workspaceId);
      const found = await this.#plannedSeries(
        { ...query, devices: planned },
        accumulation,
        plan,
        counted,
      );
      for (const one of found) series.set(...one);
    }
    return devices.flatMap((device) => series.get(device) ?? []);
  }

  /** The series of devices that share one plan. */
  async #plannedSeries(
    { devices, now }: DeviceQuery,
    accumulation: Accumulation,
    plan: BucketPlan,
    counted: { values: number },
  ): Promise<[QueriedDevice, TimeSeries][]> {
    const { topic, dataKey } = accumulation;
    const { starts, edges } = plan;
    const { accumulator } = accumulation;
    const seriesOf = (
      device: QueriedDevice,
      answers: BucketAnswers,
    ): [QueriedDevice, TimeSeries] => [
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
        this.store,
        counted,
      );
      return devices.flatMap((device, i) => {
        const answers = found[i];
        return answers === undefined ? [] : [seriesOf(device, answers)];
      });
    }
    const slotsOf = await this.calendars.slotsOf(devices, accumulator, { ...planEnds(plan), now });
    const most = talliesAtOnce(accumulatorOf(accumulator).facet, talliesPerCall);
    const devicesACall = Math.max(1, Math.floor(most / edges.length));
    const series: [QueriedDevice, TimeSeries][] = [];
    for (let start = 0; start < devices.length; start += devicesACall) {
      const some = devices.slice(start, start + devicesACall);
      const found = await this.store.buckets(bucketRequest(some, accumulation, accumulator, plan));
      for (const [i, device] of some.entries()) {
        const slots = (from: EpochMs, to: EpochMs) => slotsOf(device, from, to);
        series.push(seriesOf(device, answersOfTallies(accumulator, found[i] ?? [], plan, slots)));
      }
    }
    return series;
  }
}

type Answer = Omit<DeviceKpi, 'deviceId' | 'topic' | 'dataKey'>;

function kpiOf({ values, coverage, isApproximate }: BucketAnswers): Answer {
  return {
    kpi: values[0] ?? null,
    ...(coverage !== undefined && { coverage: coverage[0] ?? 0 }),
    ...(isApproximate && { approximate: true as const }),
  };
}

/** The first or the last value where it is a text; other accumulators have none. */
async function textAtEnd(
  { id: deviceId }: QueriedDevice,
  { topic, dataKey, accumulator }: Accumulation,
  plan: BucketPlan,
  store: { values(request: ValuesRequest): AsyncIterable<ValueBatch> },
): Promise<string | undefined> {
  const isLast = accumulator === 'LAST';
  if (!isLast && accumulator !== 'FIRST') return undefined;
  const { from, to } = planEnds(plan);
  const at = isLast ? to : from;
  const request = { deviceId, topic, keys: [dataKey], from: at, to: at };
  let text: string | undefined;
  for await (const { timestamps, columns } of store.values({
    ...request,
    before: isLast,
    after: !isLast,
  })) {
    const [column] = columns;
    const time = timestamps[0];
    if (column === undefined || time === undefined || time < from || time >= to) continue;
    const value = columnValueAt(column, 0);
    if (typeof value === 'string') text = value;
  }
  return text;
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
