// Bucket answers: what an accumulator says of each bucket of each device, from tallies or from values in the order of time.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import type { BucketRequest } from '../storage/samples/sample-store.ts';
import type { Accumulation, BucketStore, QueriedDevice } from './accumulation.ts';
import { type BucketPlan, planEnds } from './bucket-plan.ts';
import { type AccumulatorName, accumulatorOf } from './summaries/accumulators.ts';
import type { Facet, Tally } from './summaries/facet.ts';
import { type FoldAnswers, type FoldName, FoldReader, folds } from './summaries/folds.ts';
import type { CountedSlots } from './summaries/occupied-slots.ts';

/** Values that one request may read in the order of time. */
const valuesMax = 10_000_000;
/** Devices that are read at the same time, and between two turns for other requests. */
const devicesAtOnce = 8;
const devicesPerCount = 500;

/** By edge of the plan. */
export interface BucketAnswers {
  /** Undefined for a bucket without any value of the key. */
  readonly values: readonly (number | null | undefined)[];
  /** The share of each bucket that values say something of; absent where order does not count. */
  readonly coverage?: readonly number[];
  /** Whether any answer is an estimate. */
  readonly isApproximate: boolean;
}

/** The slots to count in the buckets of a device. */
type SlotsOfBucket = (from: EpochMs, to: EpochMs) => CountedSlots;

export function answersOfTallies(
  accumulator: AccumulatorName,
  tallies: readonly (Tally | undefined)[],
  { edges }: BucketPlan,
  slotsOf: SlotsOfBucket,
): BucketAnswers {
  const { finish, isApproximate } = accumulatorOf(accumulator);
  const values = tallies.map((tally, place) => {
    const [from, to] = [edges[place], edges[place + 1]];
    if (tally === undefined || from === undefined || to === undefined) return undefined;
    return finish(tally, slotsOf(from, to));
  });
  const isEstimate = (tally: Tally | undefined): boolean =>
    tally !== undefined && isApproximate?.(tally) === true;
  return { values, isApproximate: isApproximate !== undefined && tallies.some(isEstimate) };
}

/** A year of minutes by day has so many values in a tally that `most` of them would take gigabytes. */
const holdingShare = 20;

/** Tallies that one call of the store may return, of `most` for facets that keep no values. */
export function talliesAtOnce({ holdsValues }: Facet<Tally>, most: number): number {
  return holdsValues === true ? most / holdingShare : most;
}

/** What the store is asked for; of one accumulator whose tallies can be merged. */
export function bucketRequest(
  devices: readonly QueriedDevice[],
  { topic, dataKey }: Accumulation,
  accumulator: AccumulatorName,
  { source, edges }: BucketPlan,
): BucketRequest {
  return { source, deviceIds: devices.map(({ id }) => id), topic, dataKey, accumulator, edges };
}

/**
 * In the order of the devices. Refuses (400) more than `valuesMax` values, with those that the
 * request read before (`counted`); throws what the store throws.
 */
export async function answersInOrder(
  devices: readonly QueriedDevice[],
  accumulation: Accumulation,
  accumulator: FoldName,
  plan: BucketPlan,
  now: EpochMs,
  store: BucketStore,
  counted = { values: 0 },
): Promise<BucketAnswers[]> {
  await checkValues(devices, accumulation, plan, store, counted);
  const { topic, dataKey } = accumulation;
  const options = { ...accumulation.order, now };
  const { from, to } = planEnds(plan);
  const after = folds[accumulator].needsAfter(options);
  async function answersOf({ id: deviceId }: QueriedDevice): Promise<BucketAnswers> {
    const reader = new FoldReader(accumulator, plan.edges, options);
    const numeric = folds[accumulator].reads === 'numbers';
    const request = { deviceId, topic, keys: [dataKey], from, to, before: true, after, numeric };
    for await (const batch of store.values(request)) reader.add(batch);
    return answersOfFold(reader.finish());
  }
  const answers: BucketAnswers[] = [];
  for (let start = 0; start < devices.length; start += devicesAtOnce) {
    // What is in memory is answered within the same turn of the event loop.
    if (start > 0) await nextTurn();
    answers.push(
      ...(await Promise.all(devices.slice(start, start + devicesAtOnce).map(answersOf))),
    );
  }
  return answers;
}

function answersOfFold({ values, coverage }: FoldAnswers): BucketAnswers {
  return { values, coverage, isApproximate: false };
}

async function checkValues(
  devices: readonly QueriedDevice[],
  accumulation: Accumulation,
  plan: BucketPlan,
  store: { buckets(request: BucketRequest): Promise<readonly (readonly (Tally | undefined)[])[]> },
  counted: { values: number },
): Promise<void> {
  const { from, to } = planEnds(plan);
  const whole = { ...plan, starts: [from], edges: [from, to], places: [0] };
  for (let start = 0; start < devices.length; start += devicesPerCount) {
    const some = devices.slice(start, start + devicesPerCount);
    for (const [tally] of await store.buckets(bucketRequest(some, accumulation, 'COUNT', whole)))
      counted.values += tally?.count ?? 0;
  }
  const { values } = counted;
  if (values > valuesMax)
    throw problem('tooManyValues', { values, valuesMax, accumulator: accumulation.accumulator });
}
