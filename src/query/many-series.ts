// Series of many metrics: devices, topics, keys and accumulators of one request over the same buckets, of single devices or of several that are combined (contract 37).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { columnFunction, vectorValue } from './expressions/evaluate.ts';
import type { Expression } from './expressions/parse.ts';
import { instantsJson } from '../model/instant.ts';
import type { AcrossName } from '../model/calculation.ts';
import { problem } from '../model/problem.ts';
import { combined } from './summaries/across.ts';
import { type AccumulatorName, accumulatorNamed, accumulatorOf } from './summaries/accumulators.ts';
import { type FoldName, foldNamed, isFold } from './summaries/folds.ts';
import type { Facet, Tally } from './summaries/facet.ts';
import {
  type Accumulation,
  type OrderBody,
  type QueriedDevice,
  readAccumulation,
} from './accumulation.ts';
import {
  type BucketPlan,
  bucketIntervalDefault,
  planEnds,
  seriesBuckets,
  type Source,
} from './bucket-plan.ts';
import {
  answersInOrder,
  answersOfTallies,
  type BucketAnswers,
  bucketRequest,
  talliesAtOnce,
} from './bucket-answers.ts';
import { offsetsOf, readExpression } from './expression-reads.ts';
import { type DeviceQueries, pointsOfPlaces } from './device-queries.ts';

/** Points of one answer: buckets of each series times its accumulators. */
const manyPointsMax = 100_000;
/** Points of the devices that one request combines. */
const combinedPointsMax = 1_000_000;
/** Tallies of one call of the store, and of calls without a turn for other requests in between. */
const talliesPerCall = 20_000;

interface ManySeriesBody {
  readonly series: readonly WantedSeries[];
  readonly interval: { readonly from: string; readonly to: string };
  readonly bucketInterval?: string | null | undefined;
  readonly timeZone?: string | null | undefined;
  /** Formulas over the points of series with a ref. */
  readonly calculations?:
    | readonly { readonly as: string; readonly expression: string }[]
    | null
    | undefined;
}

interface WantedSeries extends OrderBody {
  /** Absent for devices that are combined. */
  readonly deviceId?: string | null | undefined;
  readonly across?: AcrossName | null | undefined;
  readonly topic: string;
  /** Data key, or the text of the expression. */
  readonly dataKey: string;
  readonly expression?: string | null | undefined;
  readonly accumulators: readonly string[];
  readonly ref?: string | null | undefined;
  readonly hidden?: boolean | null | undefined;
}

/** Devices of one workspace, or of several for which the request names a time zone. */
export interface DeviceGroup {
  readonly workspaceId: string;
  readonly devices: readonly QueriedDevice[];
}

interface ManySeriesQuery {
  /** Those of the series that the caller reads; series of others are omitted. */
  readonly devices: readonly QueriedDevice[];
  /** By the place of a series: the devices that it combines. */
  readonly groups: ReadonlyMap<number, DeviceGroup>;
  readonly source: Source;
  readonly body: ManySeriesBody;
  readonly now: number;
}

/** One wanted series, checked, with the buckets of its device. */
interface Planned {
  readonly wanted: WantedSeries;
  /** Of a group, one without an id. */
  readonly device: QueriedDevice;
  /** The devices that are combined. */
  readonly group?: DeviceGroup;
  readonly accumulations: readonly Accumulation[];
  readonly buckets: Buckets;
  readonly dataPoints: Record<string, readonly (number | null)[]>;
  readonly coverage: Record<string, readonly number[]>;
  readonly approximate: string[];
}

interface Buckets {
  readonly plan: BucketPlan;
  /** The JSON of the start of each bucket. */
  readonly timestamps: string;
}

/**
 * The JSON of one series per wanted one, in their order:
 * `{deviceId, topic, dataKey, timestamps, dataPoints, coverage?, approximate?}`, with points by accumulator; of combined
 * devices `{topic, dataKey, across, devices, withValue, timestamps, dataPoints, approximate?}`. Accumulators that read the same
 * facet share one read. Refuses (400) what a time series refuses, more than `manyPointsMax` points, and more than
 * `combinedPointsMax` that are combined.
 */
export async function manySeriesJson(
  query: ManySeriesQuery,
  queries: DeviceQueries,
): Promise<string> {
  const planned = await plannedSeries(query, queries);
  const counted = { values: 0 };
  await fillAll(
    planned.filter(({ group }) => group === undefined),
    query.now,
    counted,
    queries,
  );
  const withValue = new Map<Planned, number>();
  for (const one of planned)
    if (one.group !== undefined)
      withValue.set(one, await fillCombined(one, one.group, query.now, counted, queries));
  const shown = planned.filter(({ wanted }) => wanted.hidden !== true);
  const texts = shown.map((one) => {
    const { wanted, device, group, buckets, dataPoints, coverage, approximate } = one;
    const { topic, dataKey, across, ref } = wanted;
    const names = {
      ...(group === undefined && { deviceId: device.id }),
      topic,
      dataKey,
      ...(ref && { ref }),
      ...(group && { across, devices: group.devices.length, withValue: withValue.get(one) }),
    };
    return itemText(names, buckets, {
      dataPoints,
      ...(Object.keys(coverage).length > 0 && { coverage }),
      ...(approximate.length > 0 && { approximate }),
    });
  });
  const calculated = await calculatedItems(query, planned, queries);
  return `[${[...texts, ...calculated].join(',')}]`;
}

async function fillAll(
  planned: readonly Planned[],
  now: number,
  counted: { values: number },
  queries: DeviceQueries,
): Promise<void> {
  let tallies = 0;
  for (const call of storeCallsOf(planned)) {
    await fillCall(call, now, queries);
    tallies += call.planned.length * call.buckets.plan.edges.length;
    // What is in memory is answered within the same turn of the event loop.
    if (tallies < talliesPerCall) continue;
    tallies = 0;
    await nextTurn();
  }
  await fillInOrder(planned, now, counted, queries);
}

/** Combines the points of the devices, and answers how many of these have one. */
async function fillCombined(
  one: Planned,
  { devices }: DeviceGroup,
  now: number,
  counted: { values: number },
  queries: DeviceQueries,
): Promise<number> {
  const members = devices.map(
    (device): Planned => ({ ...one, device, dataPoints: {}, coverage: {}, approximate: [] }),
  );
  await fillAll(members, now, counted, queries);
  const across = one.wanted.across ?? 'SUM';
  const withValue = new Set<Planned>();
  for (const { accumulator } of one.accumulations) {
    one.dataPoints[accumulator] = one.buckets.plan.starts.map((_, at) => {
      const values: number[] = [];
      for (const member of members) {
        const value = member.dataPoints[accumulator]?.[at] ?? null;
        if (value === null) continue;
        values.push(value);
        withValue.add(member);
      }
      return combined(across, values);
    });
    if (members.some(({ approximate }) => approximate.includes(accumulator)))
      one.approximate.push(accumulator);
    await nextTurn();
  }
  return withValue.size;
}

function itemText(names: object, { timestamps }: Buckets, points: object): string {
  const text = JSON.stringify(names).slice(0, -1);
  return `${text},"timestamps":${timestamps},${JSON.stringify(points).slice(1)}`;
}

/** The data key that stands for the expression of a series; no data key has it. */
function keyOf({ dataKey, expression }: WantedSeries): string {
  return expression === undefined || expression === null ? dataKey : `\u0000${expression}`;
}

/** The expressions of the series by the data keys that stand for them. Throws Problem 400. */
export function expressionsOf({ series }: ManySeriesBody): Map<string, Expression> {
  const expressions = new Map<string, Expression>();
  for (const [i, wanted] of series.entries()) {
    const { expression } = wanted;
    if (expression === undefined || expression === null || expressions.has(keyOf(wanted))) continue;
    expressions.set(keyOf(wanted), readExpression(expression, `series.${i}.expression`));
  }
  return expressions;
}

// Calculations: formulas over the points of the series of one request.

async function calculatedItems(
  { body }: ManySeriesQuery,
  planned: readonly Planned[],
  queries: DeviceQueries,
): Promise<string[]> {
  const { device } = planned[0] ?? {};
  const calculations = body.calculations ?? [];
  if (calculations.length === 0 || device === undefined) return [];
  const zone = await queries.calendars.zoneOf(body.timeZone, device.workspaceId);
  refuseTwins(body.series);
  const accumulators = new Map(body.series.map((one) => [one.ref ?? '', one.accumulators]));
  const hasPoints = (ref: string, name: string | undefined) =>
    name === undefined
      ? accumulators.has(ref)
      : accumulators.get(ref)?.some((one) => pointsName(one) === pointsName(name)) === true;
  const items: string[] = [];
  for (const [i, { as, expression: text }] of calculations.entries()) {
    const expression = readExpression(text, `calculations.${i}.expression`);
    const fault = calculationFault(expression, hasPoints);
    if (fault !== undefined)
      throw problem('invalidExpression', { where: `calculations.${i}.expression`, ...fault });
    const used = planned.filter(({ wanted }) =>
      expression.inputs.some(
        (input) => 'source' in input && refOf(input.source.key) === wanted.ref,
      ),
    );
    const { buckets } = used[0] ?? planned[0] ?? {};
    if (buckets === undefined) continue;
    if (used.some((one) => one.buckets !== buckets))
      throw problem('invalidRequest', {
        reason: `body calculations.${i}: the series have buckets of different time zones; set timeZone`,
      });
    const { starts } = buckets.plan;
    const vectors = expression.inputs.map((input) => {
      const key = 'source' in input ? input.source.key : undefined;
      const values = key === undefined ? starts : pointsOfRef(key, planned, starts.length);
      return { kind: 'number' as const, values: Float64Array.from(values, nanIfNull), texts: [] };
    });
    const result = columnFunction(expression, offsetsOf(zone))(vectors, starts.length);
    const points = starts.map((_, at) => {
      const value = vectorValue(result, at);
      return typeof value === 'boolean' ? Number(value) : typeof value === 'number' ? value : null;
    });
    items.push(itemText({ as }, buckets, { dataPoints: { VALUE: points } }));
    await nextTurn();
  }
  return items;
}

/** Throws 400 for a ref of two series: a calculation would read one of them without a word. */
function refuseTwins(series: ManySeriesQuery['body']['series']): void {
  const refs = new Set<string>();
  for (const [at, { ref }] of series.entries()) {
    if (ref === undefined || ref === null) continue;
    if (refs.has(ref))
      throw problem('invalidRequest', { reason: `body series.${at}.ref: must be unique` });
    refs.add(ref);
  }
}

/** `a` and `a.MAX` name the series `a`. */
function refOf(key: string): string {
  return key.split('.', 1)[0] ?? key;
}

/** `MAX` of `a.MAX`. */
function accumulatorIn(key: string): string | undefined {
  const dot = key.indexOf('.');
  return dot < 0 ? undefined : key.slice(dot + 1);
}

function nanIfNull(value: number | null): number {
  return value ?? Number.NaN;
}

/**
 * The first input of a calculation that is not the points of a series; undefined for none. Without an
 * accumulator, `hasPoints` says whether there is a series with the ref.
 */
export function calculationFault(
  { inputs, positions }: Expression,
  hasPoints: (ref: string, accumulator: string | undefined) => boolean,
): { readonly reason: string; readonly position: number } | undefined {
  for (const [i, input] of inputs.entries()) {
    if (input.kind === 'timestamp') continue;
    const position = positions[i] ?? 0;
    if (input.kind !== 'key')
      return { reason: 'calculations read the points of series only', position };
    const { key } = input.source;
    const ref = refOf(key);
    if (!hasPoints(ref, undefined)) return { reason: `no series has the ref ${ref}`, position };
    const accumulator = accumulatorIn(key);
    if (accumulator !== undefined && !hasPoints(ref, accumulator))
      return { reason: `the series ${ref} has no accumulator ${accumulator}`, position };
  }
  return undefined;
}

/** As the points of a series name it; undefined for an unknown accumulator. */
export function pointsName(accumulator: string): string | undefined {
  return accumulatorNamed(accumulator) ?? foldNamed(accumulator);
}

/** Nulls for a series that the caller does not read. */
function pointsOfRef(
  key: string,
  planned: readonly Planned[],
  length: number,
): readonly (number | null)[] {
  const found = planned.find(({ wanted }) => wanted.ref === refOf(key));
  const [first] = found?.accumulations ?? [];
  const accumulator = accumulatorIn(key);
  const name = accumulator === undefined ? first?.accumulator : pointsName(accumulator);
  return found?.dataPoints[name ?? ''] ?? Array.from({ length }, () => null);
}

async function plannedSeries(
  { devices, groups, source, body }: ManySeriesQuery,
  queries: DeviceQueries,
): Promise<Planned[]> {
  const { interval, timeZone, bucketInterval, series } = body;
  const byId = new Map(devices.map((device) => [device.id, device]));
  const byWorkspace = new Map<string, Buckets>();
  const planned: Planned[] = [];
  let points = 0;
  let combinedPoints = 0;
  for (const [i, wantedSeries] of series.entries()) {
    const { deviceId, accumulators: names, ...wanted } = wantedSeries;
    const common = {
      ...wanted,
      dataKey: keyOf(wantedSeries),
      interval,
      timeZone: timeZone ?? null,
    };
    const accumulations = names.map((accumulator) =>
      readAccumulation({ ...common, accumulator }, queries.calendars.openZone),
    );
    const [first] = accumulations;
    const group = groups.get(i);
    const device = group ? { ...group, id: '' } : byId.get(deviceId ?? '');
    if (device === undefined || first === undefined) continue;
    let buckets = byWorkspace.get(device.workspaceId);
    if (buckets === undefined) {
      const zone = await queries.calendars.zoneOf(timeZone, device.workspaceId);
      const wanted = bucketInterval ?? bucketIntervalDefault;
      const plan = seriesBuckets(source, first.interval, wanted, zone);
      buckets = { plan, timestamps: instantsJson(plan.starts) };
      byWorkspace.set(device.workspaceId, buckets);
    }
    const own = buckets.plan.starts.length * accumulations.length;
    points += own;
    combinedPoints += own * (group?.devices.length ?? 0);
    planned.push({
      wanted: wantedSeries,
      device,
      ...(group && { group }),
      accumulations,
      buckets,
      dataPoints: {},
      coverage: {},
      approximate: [],
    });
  }
  if (points > manyPointsMax)
    throw problem('tooManyPoints', {
      points,
      pointsMax: manyPointsMax,
      devices: new Set(planned.map(({ device }) => device.id)).size,
    });
  if (combinedPoints > combinedPointsMax)
    throw problem('tooManyPoints', {
      points: combinedPoints,
      pointsMax: combinedPointsMax,
      devices: new Set([...groups.values()].flatMap((group) => group.devices.map(({ id }) => id)))
        .size,
    });
  return planned;
}

/** Series that one call of the store answers: of one topic, key and facet, over the same buckets. */
interface StoreCall {
  readonly facet: Facet<Tally>;
  readonly buckets: Buckets;
  readonly planned: readonly Planned[];
}

function* storeCallsOf(planned: readonly Planned[]): Generator<StoreCall> {
  const calls = new Map<string, { facet: Facet<Tally>; buckets: Buckets; planned: Planned[] }>();
  const facets = new Map<Facet<Tally>, number>();
  for (const one of planned) {
    for (const facet of new Set(one.accumulations.flatMap(facetsOf))) {
      const [{ topic, dataKey } = { topic: '', dataKey: '' }] = one.accumulations;
      facets.set(facet, facets.get(facet) ?? facets.size);
      const key = JSON.stringify([one.device.workspaceId, topic, dataKey, facets.get(facet)]);
      const call = calls.get(key) ?? { facet, buckets: one.buckets, planned: [] };
      call.planned.push(one);
      calls.set(key, call);
    }
  }
  for (const { facet, buckets, planned: all } of calls.values()) {
    const most = talliesAtOnce(facet, talliesPerCall);
    const perCall = Math.max(1, Math.floor(most / buckets.plan.edges.length));
    for (let start = 0; start < all.length; start += perCall)
      yield { facet, buckets, planned: all.slice(start, start + perCall) };
  }
}

/** None for accumulators in the order of time. */
function facetsOf({ accumulator }: Accumulation): Facet<Tally>[] {
  return isFold(accumulator) ? [] : [accumulatorOf(accumulator).facet];
}

async function fillCall(
  { facet, buckets: { plan }, planned }: StoreCall,
  now: number,
  queries: DeviceQueries,
): Promise<void> {
  const devices = planned.map(({ device }) => device);
  const ofFacet = (one: Planned): AccumulatorName[] =>
    one.accumulations.flatMap(({ accumulator }) =>
      !isFold(accumulator) && accumulatorOf(accumulator).facet === facet ? [accumulator] : [],
    );
  const [first] = planned;
  const [accumulator] = first === undefined ? [] : ofFacet(first);
  const accumulation = first?.accumulations[0];
  if (accumulator === undefined || accumulation === undefined)
    throw new Error('A call has no accumulator of its facet');
  const slotsOf = await queries.calendars.slotsOf(devices, accumulator, { ...planEnds(plan), now });
  const found = await queries.store.buckets(
    bucketRequest(devices, accumulation, accumulator, plan),
  );
  for (const [i, one] of planned.entries()) {
    const slots = (from: number, to: number) => slotsOf(one.device, from, to);
    for (const name of ofFacet(one))
      fill(one, name, answersOfTallies(name, found[i] ?? [], plan, slots));
  }
}

/** Accumulators in the order of time: of series that differ only by their device in one call. */
async function fillInOrder(
  planned: readonly Planned[],
  now: number,
  counted: { values: number },
  { store }: DeviceQueries,
): Promise<void> {
  const calls = new Map<
    string,
    { accumulation: Accumulation; accumulator: FoldName; series: Planned[] }
  >();
  for (const one of planned)
    for (const accumulation of one.accumulations) {
      const { accumulator } = accumulation;
      if (!isFold(accumulator)) continue;
      const key = JSON.stringify([one.device.workspaceId, accumulation]);
      const call = calls.get(key) ?? { accumulation, accumulator, series: [] };
      call.series.push(one);
      calls.set(key, call);
    }
  for (const { accumulation, accumulator, series } of calls.values()) {
    const devices = series.map(({ device }) => device);
    const plan = series[0]?.buckets.plan;
    if (plan === undefined) continue;
    const found = await answersInOrder(
      devices,
      accumulation,
      accumulator,
      plan,
      now,
      store,
      counted,
    );
    for (const [i, one] of series.entries()) {
      const answers = found[i];
      if (answers !== undefined) fill(one, accumulator, answers);
    }
  }
}

function fill(one: Planned, name: string, answers: BucketAnswers): void {
  const { dataPoints, coverage, approximate } = pointsOfPlaces(answers, one.buckets.plan);
  one.dataPoints[name] = dataPoints;
  if (coverage !== undefined) one.coverage[name] = coverage;
  if (approximate === true) one.approximate.push(name);
}
