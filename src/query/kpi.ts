// KPIs: one number per device, or one for all of them (interface 4.4 and 4.5).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { accumulators } from '../summaries/accumulators.ts';
import { addTerm, type CompensatedSum, sumOf } from '../summaries/compensated-sum.ts';
import type { BucketRequest } from '../samples/sample-store.ts';
import type { ReadingStore } from './sample-reader.ts';
import {
  type Accumulation,
  type DeviceQuery,
  type QueriedDevice,
  readAccumulation,
} from './accumulation.ts';
import { type BucketPlan, planEnds, singleBucket } from './bucket-plan.ts';
import {
  type CalendarParts,
  type CountedSpan,
  countNoSlots,
  occupancySlots,
  type SlotsOf,
} from './occupancy-slots.ts';

export interface QueryParts extends CalendarParts {
  readonly store: Pick<ReadingStore, 'buckets'>;
}

export interface DeviceKpi {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  readonly kpi: number | null;
}

// A store call never covers more devices than this, so that a large tag leaves room for other
// requests in between.
const devicesACall = 500;

/** One answer per device, in their order. Refuses (400) what `readAccumulation` refuses. */
export async function deviceKpis(query: DeviceQuery, parts: QueryParts): Promise<DeviceKpi[]> {
  const accumulation = readAccumulation(query.body, parts.openZone);
  const { topic, dataKey } = accumulation;
  const kpis = await kpisOf(query, accumulation, parts);
  return query.devices.map(({ id }, i) => ({ deviceId: id, topic, dataKey, kpi: kpis[i] ?? null }));
}

/** The sum of the devices' KPIs, null when none has any (interface 4.5, contract decisions). */
export async function accumulatedKpi(
  query: DeviceQuery,
  parts: QueryParts,
): Promise<{ readonly kpi: number | null; readonly topic: string; readonly dataKey: string }> {
  const accumulation = readAccumulation(query.body, parts.openZone);
  const { topic, dataKey } = accumulation;
  const kpis = await kpisOf(query, accumulation, parts);
  const total: CompensatedSum = { sum: 0, sumError: 0 };
  let known = 0;
  for (const kpi of kpis) {
    if (kpi === null) continue;
    known++;
    addTerm(total, kpi);
  }
  return { kpi: known === 0 ? null : sumOf(total), topic, dataKey };
}

async function kpisOf(
  { devices, source, now }: DeviceQuery,
  accumulation: Accumulation,
  parts: QueryParts,
): Promise<(number | null)[]> {
  const plan = singleBucket(source, accumulation.interval);
  const { from, to } = planEnds(plan);
  const slotsOf = await slotsFor(devices, accumulation, { from, to, now }, parts);
  const { facet, finish } = accumulators[accumulation.accumulator];
  const kpis: (number | null)[] = [];
  for (let start = 0; start < devices.length; start += devicesACall) {
    const some = devices.slice(start, start + devicesACall);
    // What is in memory is answered within the same turn of the event loop.
    if (start > 0) await nextTurn();
    const tallies = await parts.store.buckets(bucketRequest(some, accumulation, plan));
    for (const [i, device] of some.entries()) {
      const tally = tallies[i]?.[0] ?? facet.start();
      kpis.push(finish(tally, slotsOf(device, from, to)));
    }
  }
  return kpis;
}

/** What the store is asked for. */
export function bucketRequest(
  devices: readonly QueriedDevice[],
  { topic, dataKey, accumulator }: Accumulation,
  { source, edges }: BucketPlan,
): BucketRequest {
  return { source, deviceIds: devices.map(({ id }) => id), topic, dataKey, accumulator, edges };
}

/** The slots to count; none unless the accumulator counts slots. */
export async function slotsFor(
  devices: readonly QueriedDevice[],
  { accumulator }: Accumulation,
  span: CountedSpan,
  parts: CalendarParts,
): Promise<SlotsOf> {
  if (!accumulators[accumulator].countsSlots) return countNoSlots;
  return occupancySlots(devices, span, parts);
}
