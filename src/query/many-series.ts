// Series of many metrics: devices, topics, keys and accumulators of one request over the same buckets (contract 37).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { instantsJson } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import { type Accumulator, accumulators, type AccumulatorName } from './summaries/accumulators.ts';
import type { Facet, Tally } from './summaries/facet.ts';
import { type Accumulation, type QueriedDevice, readAccumulation, zoneOf } from './accumulation.ts';
import {
  type BucketPlan,
  bucketIntervalDefault,
  planEnds,
  seriesBuckets,
  type Source,
} from './bucket-plan.ts';
import { bucketRequest, type QueryParts, slotsFor } from './kpi.ts';

/** Points of one answer: buckets of each series times its accumulators. */
const manyPointsMax = 100_000;
/** Tallies of one call of the store, and of calls without a turn for other requests in between. */
const talliesPerCall = 20_000;

interface ManySeriesBody {
  readonly series: readonly WantedSeries[];
  readonly interval: { readonly from: string; readonly to: string };
  readonly bucketInterval?: string | null | undefined;
  readonly timeZone?: string | null | undefined;
}

interface WantedSeries {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  readonly accumulators: readonly string[];
}

interface ManySeriesQuery {
  /** Those of the series that the caller reads; series of others are omitted. */
  readonly devices: readonly QueriedDevice[];
  readonly source: Source;
  readonly body: ManySeriesBody;
  readonly now: number;
}

/** One wanted series, checked, with the buckets of its device. */
interface Planned {
  readonly device: QueriedDevice;
  readonly accumulations: readonly Accumulation[];
  readonly buckets: Buckets;
  readonly dataPoints: Record<string, readonly (number | null)[]>;
}

interface Buckets {
  readonly plan: BucketPlan;
  /** The JSON of the start of each bucket. */
  readonly timestamps: string;
}

/**
 * The JSON of one series per wanted one, in their order:
 * `{deviceId, topic, dataKey, timestamps, dataPoints}`, with points by accumulator. Accumulators that read the same facet share one read.
 * Refuses (400) what a time series refuses, and more than `manyPointsMax` points.
 */
export async function manySeriesJson(query: ManySeriesQuery, parts: QueryParts): Promise<string> {
  const planned = await plannedSeries(query, parts);
  let tallies = 0;
  for (const group of groupsOf(planned)) {
    await fillGroup(group, query.now, parts);
    tallies += group.planned.length * group.buckets.plan.edges.length;
    // What is in memory is answered within the same turn of the event loop.
    if (tallies < talliesPerCall) continue;
    tallies = 0;
    await nextTurn();
  }
  const texts = planned.map(({ device, accumulations, buckets, dataPoints }) => {
    const [{ topic, dataKey } = { topic: '', dataKey: '' }] = accumulations;
    const names = JSON.stringify({ deviceId: device.id, topic, dataKey }).slice(0, -1);
    return `${names},"timestamps":${buckets.timestamps},"dataPoints":${JSON.stringify(dataPoints)}}`;
  });
  return `[${texts.join(',')}]`;
}

async function plannedSeries(
  { devices, source, body }: ManySeriesQuery,
  parts: QueryParts,
): Promise<Planned[]> {
  const { interval, timeZone, bucketInterval, series } = body;
  const byId = new Map(devices.map((device) => [device.id, device]));
  const byWorkspace = new Map<string, Buckets>();
  const planned: Planned[] = [];
  let points = 0;
  for (const { deviceId, topic, dataKey, accumulators: names } of series) {
    const common = { topic, dataKey, interval, timeZone: timeZone ?? null };
    const accumulations = names.map((accumulator) =>
      readAccumulation({ ...common, accumulator }, parts.openZone),
    );
    const [first] = accumulations;
    const device = byId.get(deviceId);
    if (device === undefined || first === undefined) continue;
    let buckets = byWorkspace.get(device.workspaceId);
    if (buckets === undefined) {
      const zone = await zoneOf(timeZone, device, parts.calendarOf, parts.openZone);
      const wanted = bucketInterval ?? bucketIntervalDefault;
      const plan = seriesBuckets(source, first.interval, wanted, zone);
      buckets = { plan, timestamps: instantsJson(plan.starts) };
      byWorkspace.set(device.workspaceId, buckets);
    }
    points += buckets.plan.starts.length * accumulations.length;
    planned.push({ device, accumulations, buckets, dataPoints: {} });
  }
  if (points > manyPointsMax)
    throw problem('tooManyPoints', {
      points,
      pointsMax: manyPointsMax,
      devices: new Set(planned.map(({ device }) => device.id)).size,
    });
  return planned;
}

/** Series that one call of the store answers: of one topic, key and facet, over the same buckets. */
interface Group {
  readonly facet: Facet<Tally>;
  readonly buckets: Buckets;
  readonly planned: readonly Planned[];
}

function* groupsOf(planned: readonly Planned[]): Generator<Group> {
  const groups = new Map<string, { facet: Facet<Tally>; buckets: Buckets; planned: Planned[] }>();
  const facets = new Map<Facet<Tally>, number>();
  for (const one of planned) {
    for (const facet of new Set(one.accumulations.map(facetOf))) {
      const [{ topic, dataKey } = { topic: '', dataKey: '' }] = one.accumulations;
      facets.set(facet, facets.get(facet) ?? facets.size);
      const key = JSON.stringify([one.device.workspaceId, topic, dataKey, facets.get(facet)]);
      const group = groups.get(key) ?? { facet, buckets: one.buckets, planned: [] };
      group.planned.push(one);
      groups.set(key, group);
    }
  }
  for (const { facet, buckets, planned: all } of groups.values()) {
    const perCall = Math.max(1, Math.floor(talliesPerCall / buckets.plan.edges.length));
    for (let start = 0; start < all.length; start += perCall)
      yield { facet, buckets, planned: all.slice(start, start + perCall) };
  }
}

function facetOf({ accumulator }: Accumulation): Facet<Tally> {
  return accumulators[accumulator].facet;
}

async function fillGroup(
  { facet, buckets: { plan }, planned }: Group,
  now: number,
  parts: QueryParts,
): Promise<void> {
  const devices = planned.map(({ device }) => device);
  const ofFacet = planned[0]?.accumulations.find((one) => facetOf(one) === facet);
  if (ofFacet === undefined) throw new Error('A group has no accumulator of its facet');
  const span = { ...planEnds(plan), now };
  const slotsOf = await slotsFor(devices, ofFacet, span, parts);
  const found = await parts.store.buckets(bucketRequest(devices, ofFacet, plan));
  for (const [i, { device, accumulations, dataPoints }] of planned.entries()) {
    const tallies = found[i] ?? [];
    const slots = (from: number, to: number) => slotsOf(device, from, to);
    for (const one of accumulations)
      if (facetOf(one) === facet)
        dataPoints[one.accumulator] = pointsOf(one.accumulator, tallies, plan, slots);
  }
}

function pointsOf(
  accumulator: AccumulatorName,
  tallies: readonly (Tally | undefined)[],
  { edges, places }: BucketPlan,
  slots: (from: number, to: number) => Parameters<Accumulator['finish']>[1],
): (number | null)[] {
  const { finish } = accumulators[accumulator];
  return places.map((place) => {
    const [from, to, tally] = [edges[place], edges[place + 1], tallies[place]];
    if (tally === undefined || from === undefined || to === undefined) return null;
    return finish(tally, slots(from, to));
  });
}
