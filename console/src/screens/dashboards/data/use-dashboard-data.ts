// Hook on the data of a dashboard: one request for all series, one for all newest values, then the stream.
import {
  keepPreviousData,
  useQueries,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, Refusal } from '../../../api/platform.ts';
import type { Interval } from '../../../../../src/dashboards/buckets.ts';
import { earlierByMs, earlierInterval } from '../../../../../src/dashboards/earlier.ts';
import { zoneClock } from '../../../words/zone-times.ts';
import { type BoundTile, sourceKey } from '../../../../../src/dashboards/variables.ts';
import {
  answersByKey,
  type CustomFields,
  devicesOf,
  earlierPlan,
  groupBody,
  groupsOf,
  latestBodies,
  seriesBody,
  seriesPlan,
  type SeriesRequest,
  type SourceDevices,
} from '../../../../../src/dashboards/plan.ts';
import { type Reader, useReader } from '../dashboard-requests.ts';
import { follow, type LiveSample } from '../../../api/stream.ts';

type MetricSeries = components['schemas']['MetricSeries'];
type LatestPage = components['schemas']['DeviceLatestSamplesPage'];
type DeviceLatest = components['schemas']['DeviceLatestSamples'];

const seriesLeastMs = 30_000;
const latestMs = { session: 120_000, shared: 30_000 } as const;
const groupDevicesMax = 200;

export interface DashboardData {
  readonly devices: SourceDevices;
  /** How many devices of a source are above the limit of one answer, by `sourceKey`. */
  readonly rest: ReadonlyMap<string, number>;
  readonly series: ReadonlyMap<string, MetricSeries>;
  /** The series of the period that the range is compared with; undefined for none. */
  readonly earlier:
    | { readonly byMs: number; readonly series: ReadonlyMap<string, MetricSeries> }
    | undefined;
  /** Where the series end and live samples continue, in epoch milliseconds. */
  readonly seriesEndMs: number;
  readonly latest: ReadonlyMap<string, DeviceLatest['samples']>;
  /** The last values of keys, also where newer samples do not have them, by device. */
  readonly lastValues: ReadonlyMap<string, NonNullable<DeviceLatest['values']>>;
  readonly live: LiveSamples;
  readonly interval: Interval;
  readonly range: ShownRange;
  /** By the group of tiles that share requests. */
  readonly buckets: ReadonlyMap<string, Pick<SeriesRequest, 'bucket' | 'isOwn'>>;
  readonly zone: string;
  readonly isFixed: boolean;
  readonly isLoading: boolean;
  /** Data of an earlier range is still shown. */
  readonly isStale: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

/** What the configuration says of reading, as far as it does. */
interface ReadOptions {
  /** `PREVIOUS` or an ISO-8601 duration. */
  readonly compare: string | undefined;
  /** How often to read again. */
  readonly refreshMs: number | undefined;
}

export interface ShownRange {
  readonly intervalAt: (nowMs: number) => Interval;
  /** Names the range in the keys of the cache. */
  readonly name: string;
  readonly isFixed: boolean;
  /** The moment of the time machine, ISO-8601; undefined for now. */
  readonly at: string | undefined;
  readonly zone: string;
}

export function useDashboardData(
  dashboardId: string,
  tiles: readonly BoundTile[],
  range: ShownRange,
  fields: CustomFields,
  options: ReadOptions,
): DashboardData {
  const reader = useReader();
  const client = useQueryClient();
  const key = ['dashboard data', reader.name, dashboardId];
  const newest = useNewest(key, reader, { tiles, fields, at: range.at }, options.refreshMs);
  const drawn = useSeries(key, reader, { tiles, devices: newest.devices, range, options });
  const deviceIds = useMemo(() => devicesOf(tiles, newest.devices), [tiles, newest.devices]);
  const live = useLiveSamples(reader.isShared || range.isFixed ? [] : deviceIds, () => {
    void client.invalidateQueries({ queryKey: key });
  });
  return {
    ...newest,
    ...drawn,
    live,
    range,
    zone: range.zone,
    isFixed: range.isFixed,
    error: newest.error ?? drawn.error,
    isLoading: newest.isLoading || drawn.isLoading,
    retry: () => void client.invalidateQueries({ queryKey: key }),
  };
}

interface NewestParts {
  readonly tiles: readonly BoundTile[];
  readonly fields: CustomFields;
  /** ISO-8601. */
  readonly at: string | undefined;
}

/** The newest samples of all devices, now or at a moment; those of a tag or place say which devices it has. */
function useNewest(
  key: readonly string[],
  reader: Reader,
  { tiles, fields, at }: NewestParts,
  refreshMs: number | undefined,
) {
  const everyMs = refreshMs ?? (reader.isShared ? latestMs.shared : latestMs.session);
  // A shared link reads no workspace.
  const groups = groupsOf(tiles).filter(({ kind }) => kind !== 'WORKSPACE' || !reader.isShared);
  const bodies = [
    ...groups.map((source) => groupBody(tiles, source, groupDevicesMax, fields)),
    ...latestBodies(tiles),
  ].map((body) => (at === undefined ? body : { ...body, at }));
  return useQueries({
    queries: bodies.map((body) => ({
      queryKey: [...key, 'newest', body],
      placeholderData: keepPreviousData,
      // What was the newest then stays so, but for corrections.
      refetchInterval: at === undefined ? everyMs : (false as const),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        ask(reader.requests.POST('/v3/devices/query/latest', { signal, body })),
    })),
    combine: (found) => {
      const idsOf = (at: number) => found[at]?.data?.content.map(({ deviceId }) => deviceId) ?? [];
      const all = found.flatMap(({ data }) => data?.content ?? []);
      return {
        devices: new Map(groups.map((source, at) => [sourceKey(source), idsOf(at)])),
        rest: new Map(groups.map((source, at) => [sourceKey(source), restOf(found[at]?.data)])),
        latest: new Map(all.map(({ deviceId, samples }) => [deviceId, samples])),
        lastValues: new Map(all.map(({ deviceId, values = {} }) => [deviceId, values])),
        error: found.find(({ error }) => error !== null)?.error ?? null,
        isLoading: found.some(({ isPending }) => isPending),
      };
    },
  });
}

interface SeriesParts {
  readonly tiles: readonly BoundTile[];
  readonly devices: SourceDevices;
  readonly range: ShownRange;
  readonly options: ReadOptions;
}

function useSeries(key: readonly string[], reader: Reader, parts: SeriesParts) {
  const { tiles, devices, range, options } = parts;
  const { intervalAt, isFixed, zone } = range;
  const [openedMs] = useState(() => Date.now());
  const opened = intervalAt(openedMs);
  const requests = seriesPlan(tiles, devices, opened);
  const everyMs = (seconds: number) =>
    options.refreshMs ?? Math.max(seriesLeastMs, seconds * 1_000);
  const read = async (request: SeriesRequest, interval: Interval, signal: AbortSignal) => {
    const body = seriesBody(request, interval, zone);
    const path = '/v3/devices/query/batch/time-series';
    const answered = await ask(reader.requests.POST(path, { signal, body })).catch(noneIfGone);
    return { interval, series: answersByKey(request, answered) };
  };
  const keyOf = ({ group, bucket, series, calculations }: SeriesRequest) => {
    return [range.name, zone, group, bucket.iso, series, calculations];
  };
  const drawn = useQueries({
    queries: requests.map((request) => ({
      queryKey: [...key, 'series', ...keyOf(request)],
      placeholderData: keepPreviousData,
      refetchInterval: isFixed ? (false as const) : everyMs(request.bucket.seconds),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        read(request, intervalAt(Date.now()), signal),
    })),
    combine: combined,
  });
  const earlierMs = earlierByMs(options.compare, opened, zoneClock(zone));
  const compared = earlierMs === undefined ? [] : earlierPlan(requests, tiles, devices);
  const before = useQueries({
    queries: compared.map((request) => ({
      queryKey: [...key, 'earlier', options.compare, ...keyOf(request)],
      // Of another period, it would be taken for this one.
      refetchInterval: isFixed ? (false as const) : everyMs(request.bucket.seconds),
      queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
        read(request, earlierInterval(intervalAt(Date.now()), earlierMs ?? 0), signal),
    })),
    combine: combined,
  });
  const earlier = useMemo(
    () => (earlierMs === undefined ? undefined : { byMs: earlierMs, series: before.series }),
    [earlierMs, before.series],
  );
  const interval = drawn.interval ?? opened;
  const buckets = new Map(requests.map((one) => [one.group, one]));
  const error = drawn.error ?? before.error;
  return { ...drawn, error, earlier, interval, buckets, seriesEndMs: interval.toMs };
}

/** Devices, tags, or places that were all deleted leave their tile without data, and the others as they are. */
function noneIfGone(error: unknown): readonly MetricSeries[] {
  if (error instanceof Refusal && error.status === 404) return [];
  throw error;
}

/** One function, so that what is combined stays the same until an answer changes. */
function combined(
  found: readonly UseQueryResult<{
    readonly interval: Interval;
    readonly series: ReturnType<typeof answersByKey<MetricSeries>>;
  }>[],
) {
  return {
    series: new Map(found.flatMap(({ data }) => data?.series ?? [])),
    interval: found[0]?.data?.interval,
    error: found.find(({ error }) => error !== null)?.error ?? null,
    isLoading: found.some(({ isPending }) => isPending),
    isStale: found.some(({ isPlaceholderData }) => isPlaceholderData),
  };
}

/** How many devices of a source are not in the answer. */
function restOf(page: LatestPage | undefined): number {
  return page === undefined ? 0 : page.totalElements - page.content.length;
}

// Live samples: what arrived since the page was opened, of the devices of a dashboard, in batches.

/** A burst of samples is drawn in one turn. */
const batchMs = 100;
/** All devices join with one answer each; the gap is filled once. */
const joinMs = 300;
const keptMax = 500;
/** Above this the newest values come with the next request. */
const followedMax = 200;

/** Samples of a topic of a device, oldest first. */
type LiveSamples = ReadonlyMap<string, readonly LiveSample[]>;

export const liveKey = (deviceId: string, topic: string): string => `${deviceId} ${topic}`;

/** `joined` is called when nothing is missed from here on; earlier samples can be missing. */
export function useLiveSamples(deviceIds: readonly string[], joined: () => void): LiveSamples {
  const [samples, setSamples] = useState<LiveSamples>(new Map());
  const latest = useRef(joined);
  useEffect(() => {
    latest.current = joined;
  });
  const names = deviceIds.slice(0, followedMax).join();
  useEffect(() => {
    if (names === '') return undefined;
    const waiting: LiveSample[] = [];
    let batch: ReturnType<typeof setTimeout> | undefined;
    let join: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      batch = undefined;
      const arrived = waiting.splice(0);
      setSamples((before) => withSamples(before, arrived));
    };
    const stops = names.split(',').map((assetId) =>
      follow(
        { assetId },
        {
          onJoin() {
            clearTimeout(join);
            join = setTimeout(() => latest.current(), joinMs);
          },
          onSample(sample) {
            waiting.push(sample);
            batch ??= setTimeout(flush, batchMs);
          },
        },
      ),
    );
    return () => {
      clearTimeout(batch);
      clearTimeout(join);
      for (const stop of stops) stop();
    };
  }, [names]);
  return samples;
}

function withSamples(before: LiveSamples, arrived: readonly LiveSample[]): LiveSamples {
  const after = new Map(before);
  for (const sample of arrived) {
    const key = liveKey(sample.deviceId, sample.topic);
    after.set(key, [...(after.get(key) ?? []), sample].slice(-keptMax));
  }
  return after;
}
