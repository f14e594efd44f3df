// Latest samples of many devices, and the last value of each wanted key (contract 37 and 42).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { dataValue, type Sample } from '../model/sample.ts';
import { earliest, type EpochMs, formatInstant, hourMs, newestUntil } from '../model/instant.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { type SharedDashboard, sharedKeys } from '../model/dashboard.ts';
import type { UnreadableSamples } from '../storage/samples/sample-store.ts';
import type { ReadingStore } from './accumulation.ts';
import type { EndsTally } from './summaries/facets.ts';

/** Limits of the search for values that the newest samples do not have. */
const searchLimits = {
  /** Topics of a device in which a key is looked for, those with the newest samples. */
  topicsMax: 50,
  devicesPerCall: 500,
  /** Samples of one instant among which the value is looked for. */
  instantMax: 100,
  /** Values that are read at the same time. */
  togetherMax: 16,
} as const;

/** Samples count from `from` up to `at`, both inclusive. */
export interface Moment {
  readonly from: EpochMs;
  readonly at: EpochMs;
}

interface WantedSamples {
  /** All topics when undefined. */
  readonly topics: readonly string[] | undefined;
  /** All data when undefined. */
  readonly keys: readonly string[] | undefined;
  readonly now: EpochMs;
  /** The newest of a past moment in place of those of now. */
  readonly moment?: Moment | undefined;
  /** Called for what the read omits. */
  readonly unreadable: (samples: UnreadableSamples) => void;
  /** Only what the tiles of the shared dashboard show. */
  readonly share?: SharedDashboard | undefined;
}

interface LatestValue {
  readonly value: Json;
  readonly timestamp: string;
  readonly topic: string;
  readonly future?: true;
}

interface LatestOfDevice {
  readonly deviceId: string;
  /** Newest first. */
  readonly samples: { topic: string; timestamp: string; data: JsonObject; future?: true }[];
  readonly values?: Readonly<Record<string, LatestValue>>;
}

type LatestStore = Pick<ReadingStore, 'latest' | 'buckets' | 'samples'>;

/** One item per device, in the order of the ids. */
export async function latestOfDevices(
  deviceIds: readonly string[],
  wanted: WantedSamples,
  store: LatestStore,
): Promise<LatestOfDevice[]> {
  const { topics, keys, now, moment, unreadable, share } = wanted;
  const until = Math.min(moment?.at ?? Infinity, newestUntil(now));
  const stored = await store.latest({
    deviceIds,
    ...(topics !== undefined && { topics }),
    ...(moment !== undefined && { until, from: moment.from }),
    unreadable,
  });
  const found = share === undefined ? stored : stored.map((all) => samplesOfShare(all, share));
  const values = keys && (await lastValues(deviceIds, found, { ...wanted, keys, until }, store));
  return deviceIds.map((deviceId, i) => ({
    deviceId,
    samples: (found[i] ?? []).map(({ topic, timestamp, data }) => ({
      topic,
      timestamp: formatInstant(timestamp),
      data: keys === undefined ? data : narrowed(data, keys),
      ...(timestamp > until && { future: true as const }),
    })),
    ...(values !== undefined && { values: shownValues(values[i] ?? new Map(), until) }),
  }));
}

/** What the tiles of the shared dashboard show of the samples, without the notes on the rest. */
export function samplesOfShare(
  samples: readonly Sample[],
  share: SharedDashboard | undefined,
): readonly Sample[] {
  if (share === undefined) return samples;
  return samples.flatMap(({ deviceId, topic, timestamp, data }) => {
    const keys = sharedKeys(share, deviceId, topic);
    return keys === undefined
      ? []
      : { deviceId, topic, timestamp, data: narrowed(data, [...keys]) };
  });
}

/** A key without a value is omitted. */
function narrowed(data: JsonObject, keys: readonly string[]): JsonObject {
  const values = keys.map((key) => [key, dataValue(data, key)] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as JsonObject;
}

type Values = Map<
  string,
  { readonly topic: string; readonly timestamp: EpochMs; readonly value: Json }
>;

function shownValues(values: Values, until: EpochMs): Record<string, LatestValue> {
  const shown = [...values].map(([key, { value, timestamp, topic }]): [string, LatestValue] => [
    key,
    {
      value,
      timestamp: formatInstant(timestamp),
      topic,
      ...(timestamp > until && { future: true as const }),
    },
  ]);
  return Object.fromEntries(shown);
}

interface WantedValues extends WantedSamples {
  readonly keys: readonly string[];
  readonly until: EpochMs;
}

/** Where a key is looked for: a topic of some devices whose newest sample has no value of it. */
interface Search {
  readonly topic: string;
  readonly key: string;
  /** Places among the devices. */
  readonly places: number[];
}

/**
 * For each device the last value of each key that is not null. The newest samples mostly have it;
 * where they do not, the summaries say when it was measured last, and that sample is read.
 */
async function lastValues(
  deviceIds: readonly string[],
  found: readonly (readonly Sample[])[],
  wanted: WantedValues,
  store: LatestStore,
): Promise<Values[]> {
  const { keys, until, share } = wanted;
  const values: Values[] = deviceIds.map(() => new Map());
  const searches = new Map<string, Search>();
  for (const [place, samples] of found.entries())
    for (const key of keys) {
      for (const sample of samples) offer(values[place], key, sample, until);
      const known = values[place]?.get(key);
      for (const { topic, timestamp, data } of samples.slice(0, searchLimits.topicsMax)) {
        const isOlder = known !== undefined && !isLater(timestamp, known.timestamp, until);
        if (isOlder || (dataValue(data, key) ?? null) !== null) continue;
        if (share && !sharedKeys(share, deviceIds[place] ?? '', topic)?.has(key)) continue;
        const name = `${key}\n${topic}`;
        const search = searches.get(name) ?? { topic, key, places: [] };
        searches.set(name, search);
        search.places.push(place);
      }
    }
  for (const search of searches.values())
    for (let from = 0; from < search.places.length; from += searchLimits.devicesPerCall) {
      const places = search.places.slice(from, from + searchLimits.devicesPerCall);
      await searchSome({ ...search, places }, deviceIds, values, wanted, store);
      await nextTurn();
    }
  return values;
}

/** Whether a time is newer; what is dated in the future gives way to anything else. */
function isLater(one: EpochMs, other: EpochMs, until: EpochMs): boolean {
  return one > until === other > until ? one > other : other > until;
}

function offer(values: Values | undefined, key: string, sample: Sample, until: EpochMs): boolean {
  const { topic, timestamp, data } = sample;
  const value = dataValue(data, key) ?? null;
  if (value === null) return false;
  const known = values?.get(key);
  if (known === undefined || isLater(timestamp, known.timestamp, until))
    values?.set(key, { value, timestamp, topic });
  return true;
}

async function searchSome(
  { topic, key, places }: Search,
  deviceIds: readonly string[],
  values: readonly Values[],
  { now, until, moment, unreadable }: WantedValues,
  store: LatestStore,
): Promise<void> {
  const from = moment?.from ?? Math.floor(earliest / hourMs) * hourMs;
  const firstHour = Math.ceil(from / hourMs) * hourMs;
  const hour = Math.max(Math.floor(Math.min(now, until) / hourMs) * hourMs, from);
  // The newest first; an hour that is not whole is read from its samples.
  const spans = (
    [
      { source: 'raw', edges: [hour, until + 1] },
      { source: 'hours', edges: [firstHour, hour] },
      { source: 'raw', edges: [from, Math.min(firstHour, hour)] },
    ] as const
  ).filter(({ edges: [start, end] }) => start < end);
  let left = places;
  for (const { source, edges } of spans) {
    if (left.length === 0) return;
    const ids = left.map((place) => deviceIds[place] ?? '');
    const request = { topic, dataKey: key, accumulator: 'LAST' } as const;
    const tallies = await store.buckets({ source, edges, deviceIds: ids, ...request });
    const measured = left.flatMap((place, i) => {
      const tally = tallies[i]?.[0] as EndsTally | undefined;
      return tally === undefined ? [] : [{ place, at: tally.lastAt }];
    });
    for (let from = 0; from < measured.length; from += searchLimits.togetherMax)
      await Promise.all(
        measured.slice(from, from + searchLimits.togetherMax).map(async ({ place, at }) => {
          const samples = await store.samples({
            deviceId: deviceIds[place] ?? '',
            topic,
            from: at,
            to: at + 1,
            limit: searchLimits.instantMax,
            skip: 0,
            unreadable,
          });
          samples.find((sample) => offer(values[place], key, sample, until));
        }),
      );
    const isMeasured = new Set(measured.map(({ place }) => place));
    left = left.filter((place) => !isMeasured.has(place));
  }
}
