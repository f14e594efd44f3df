// Device values: the newest samples of the rows in view, and the course of their main value over 24 hours.
import { keepPreviousData, queryOptions, useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { answers } from '../../api/answers.ts';
import { ask, platform } from '../../api/platform.ts';
import { stateKeys, type StoredState, storedStateOf } from '../../api/stored-state.ts';
import type { Device } from './device-list.ts';

interface Property {
  readonly title?: string;
  readonly type?: string;
  readonly unit?: string;
  readonly hideFromKpis?: boolean;
}

/** By topic, what `infer-schema` says of the values of a device type. */
type TypeSchema = Readonly<
  Record<string, { readonly properties?: Readonly<Record<string, Property>> }>
>;

export interface ValueKey {
  readonly topic: string;
  readonly key: string;
  readonly title: string;
  readonly unit?: string;
}

/** What a device sent last. */
interface Newest {
  readonly samples: readonly Sample[];
  /** The last value of declared keys that is not null, by key. */
  readonly values: Readonly<
    Record<string, { readonly value: unknown; readonly topic: string; readonly timestamp: string }>
  >;
}

const nothingSent: Newest = { samples: [], values: {} };
/** As many keys as one request takes beside those of the state. */
const keysMax = 100 - stateKeys.length;

interface Sample {
  readonly topic: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface DeviceValues {
  /** The value that represents the device; undefined when it sent no number. */
  readonly mainOf: (device: Device) => ValueKey | undefined;
  readonly valueOf: (device: Device, topic: string, key: string) => unknown;
  /** Time of the value, where newer samples of the device do not have it. */
  readonly earlierAt: (device: Device, topic: string, key: string) => string | undefined;
  /** Hourly averages of the main value, oldest first; null for hours without a sample. */
  readonly lineOf: (device: Device) => readonly (number | null)[] | undefined;
  /** What stored samples say of the device itself. */
  readonly storedOf: (device: Device) => StoredState | undefined;
  /** Whether the platform has answered what the device sent. */
  readonly isKnown: (device: Device) => boolean;
  /** All values that the types in view declare or have sent. */
  readonly keys: readonly ValueKey[];
}

const hourMs = 3_600_000;
const dayHours = 24;
const latestMs = 15_000;
const linesMs = 300_000;

/** `pages` are those in view; values of a page, now or at the moment (ISO-8601), are asked for in one request each. */
export function useDeviceValues(pages: readonly (readonly Device[])[], at?: string): DeviceValues {
  const schemas = useSchemas(pages);
  const keys = useMemo(() => declaredKeys(schemas), [schemas]);
  const latest = useLatest(pages, keys, at);
  const mains = useMemo(() => mainsOf(pages.flat(), schemas, latest), [pages, schemas, latest]);
  const lines = useLines(pages, mains, at);
  return useMemo(
    () => valuesOf({ schemas, latest, mains, lines }),
    [schemas, latest, mains, lines],
  );
}

/** Schemas by device type. */
function useSchemas(pages: readonly (readonly Device[])[]): ReadonlyMap<string, TypeSchema> {
  return useQueries({
    queries: speakersOf(pages.flat()).map(schemaQuery),
    combine: mapOfPairs,
  });
}

interface Speaker {
  readonly typeId: string;
  readonly deviceId: string;
}

/** One device speaks for all of its type. */
function speakersOf(devices: readonly Pick<Device, 'id' | 'dataFlow'>[]): readonly Speaker[] {
  const speakers = new Map<string, Speaker>();
  for (const { id, dataFlow } of devices) {
    const typeId = dataFlow.deviceType?.id;
    if (typeId !== undefined && !speakers.has(typeId))
      speakers.set(typeId, { typeId, deviceId: id });
  }
  return [...speakers.values()];
}

const schemaQuery = ({ typeId, deviceId }: Speaker) =>
  queryOptions({
    queryKey: ['type-values', typeId],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const params = { path: { deviceId } };
      const path = '/v3/devices/{deviceId}/infer-schema';
      const schema = await ask(platform.GET(path, { signal, params }));
      return [typeId, schema as TypeSchema] as const;
    },
  });

/** The names of the keys that the types in view declare. */
function declaredKeys(schemas: ReadonlyMap<string, TypeSchema>): readonly string[] {
  const keys = [...schemas.values()].flatMap(keysOf).map(([, { key }]) => key);
  return [...new Set(keys)].slice(0, keysMax);
}

interface AskedLatest {
  readonly deviceIds: string[];
  readonly keys: readonly string[];
  /** ISO-8601; now without it. */
  readonly at?: string | undefined;
}

/** The newest samples, and the last values of keys that they may lack. */
async function fetchLatest({ deviceIds, keys, at }: AskedLatest, signal?: AbortSignal) {
  const stop = signal === undefined ? {} : { signal };
  const path = '/v3/devices/query/latest';
  const body = { deviceIds, ...(at !== undefined && { at }) };
  const [{ content }, last] = await Promise.all([
    ask(platform.POST(path, { ...stop, body })),
    ask(platform.POST(path, { ...stop, body: { ...body, keys: [...stateKeys, ...keys] } })),
  ]);
  const values = new Map(last.content.map((one) => [one.deviceId, one.values ?? {}]));
  return content.map(({ deviceId, samples }) => {
    const newest: Newest = {
      samples,
      values: values.get(deviceId) ?? {},
    };
    return [deviceId, newest] as const;
  });
}

/** Types whose schemas are asked for; a place seldom has more. */
const speakersMax = 20;

/** The values that the types of the devices declare or have sent. */
export async function fetchValueKeys(
  devices: readonly Pick<Device, 'id' | 'dataFlow'>[],
): Promise<readonly ValueKey[]> {
  const asked = speakersOf(devices)
    .slice(0, speakersMax)
    .map((one) => answers.ensureQueryData(schemaQuery(one)));
  const found = await Promise.all(asked);
  return found.flatMap(([, schema]) => keysOf(schema)).map(([, key]) => key);
}

/** The newest values of at most 1,000 devices, without lines. */
export async function fetchValues(devices: readonly Device[]): Promise<DeviceValues> {
  const asked = speakersOf(devices).map((one) => answers.ensureQueryData(schemaQuery(one)));
  const schemas = new Map(await Promise.all(asked));
  const latest = new Map(
    devices.length === 0
      ? []
      : await fetchLatest({
          deviceIds: devices.map(({ id }) => id),
          keys: declaredKeys(schemas),
        }),
  );
  const mains = mainsOf(devices, schemas, latest);
  return valuesOf({ schemas, latest, mains, lines: new Map() });
}

interface KnownValues {
  readonly schemas: ReadonlyMap<string, TypeSchema>;
  readonly latest: ReadonlyMap<string, Newest>;
  readonly mains: ReadonlyMap<string, ValueKey>;
  readonly lines: ReadonlyMap<string, readonly (number | null)[]>;
}

function valuesOf({ schemas, latest, mains, lines }: KnownValues): DeviceValues {
  return {
    mainOf: ({ id }) => mains.get(id),
    valueOf({ id }, topic, key) {
      const { samples, values } = latest.get(id) ?? nothingSent;
      const last = values[key]?.topic === topic ? values[key].value : undefined;
      return samples.find((sample) => sample.topic === topic)?.data[key] ?? last;
    },
    earlierAt({ id }, topic, key) {
      const { samples, values } = latest.get(id) ?? nothingSent;
      const last = values[key]?.topic === topic ? values[key].timestamp : undefined;
      return samples.some(({ timestamp }) => last !== undefined && timestamp > last)
        ? last
        : undefined;
    },
    lineOf: ({ id }) => lines.get(id),
    storedOf: ({ id }) => storedStateOf(latest.get(id) ?? nothingSent),
    isKnown: ({ id }) => latest.has(id),
    keys: [...new Map([...sentKeys(latest), ...[...schemas.values()].flatMap(keysOf)]).values()],
  };
}

const sentKeysMax = 300;

/** What the newest samples have; devices without a type declare nothing. */
function sentKeys(latest: KnownValues['latest']): [string, ValueKey][] {
  const keys = new Map<string, ValueKey>();
  for (const { samples } of latest.values())
    for (const { topic, data } of samples)
      for (const key of Object.keys(data)) {
        if (keys.size >= sentKeysMax) return [...keys];
        keys.set(`${topic} ${key}`, { topic, key, title: key });
      }
  return [...keys];
}

function useLatest(
  pages: readonly (readonly Device[])[],
  keys: readonly string[],
  at: string | undefined,
): ReadonlyMap<string, Newest> {
  return useQueries({
    queries: pages.map((devices) => {
      const deviceIds = devices.map(({ id }) => id);
      return {
        queryKey: ['latest', deviceIds, keys, at],
        enabled: deviceIds.length > 0,
        // While the moment moves, the rows keep their values.
        placeholderData: keepPreviousData,
        refetchInterval: at === undefined ? latestMs : (false as const),
        queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
          fetchLatest({ deviceIds, keys, at }, signal),
      };
    }),
    combine: mapOfLists,
  });
}

function useLines(
  pages: readonly (readonly Device[])[],
  mains: ReadonlyMap<string, ValueKey>,
  at: string | undefined,
): ReadonlyMap<string, readonly (number | null)[]> {
  return useQueries({
    queries: pages.map((devices) => {
      const series = devices.flatMap(({ id }) => {
        const main = mains.get(id);
        if (main === undefined) return [];
        return [
          { deviceId: id, topic: main.topic, dataKey: main.key, accumulators: ['AVG' as const] },
        ];
      });
      return {
        queryKey: ['day-lines', series, at],
        enabled: series.length > 0,
        placeholderData: keepPreviousData,
        staleTime: linesMs,
        refetchInterval: at === undefined ? linesMs : (false as const),
        queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
          fetchLines(series, at === undefined ? Date.now() : Date.parse(at), signal),
      };
    }),
    combine: mapOfLists,
  });
}

interface WantedLine {
  readonly deviceId: string;
  readonly topic: string;
  readonly dataKey: string;
  readonly accumulators: components['schemas']['Accumulator'][];
}

/** Over the 24 hours that end with that of the moment, in epoch milliseconds. */
async function fetchLines(series: readonly WantedLine[], momentMs: number, signal: AbortSignal) {
  const end = (Math.floor(momentMs / hourMs) + 1) * hourMs;
  const from = new Date(end - dayHours * hourMs).toISOString();
  const body = {
    series: [...series],
    interval: { from, to: new Date(end).toISOString() },
    bucketInterval: 'PT1H',
    source: 'hourly' as const,
  };
  const path = '/v3/devices/query/batch/time-series';
  const lines = await ask(platform.POST(path, { signal, body }));
  return lines.map(
    ({ deviceId, dataPoints }) => [deviceId ?? '', dataPoints['AVG'] ?? []] as const,
  );
}

interface Answered<T> {
  readonly data?: T | undefined;
}

function mapOfPairs<V>(answers: readonly Answered<readonly [string, V]>[]): ReadonlyMap<string, V> {
  return new Map(answers.flatMap(({ data }) => (data === undefined ? [] : [data])));
}

function mapOfLists<V>(
  answers: readonly Answered<readonly (readonly [string, V])[]>[],
): ReadonlyMap<string, V> {
  return new Map(answers.flatMap(({ data }) => data ?? []));
}

function mainsOf(
  devices: readonly Device[],
  schemas: ReadonlyMap<string, TypeSchema>,
  latest: ReadonlyMap<string, Newest>,
): ReadonlyMap<string, ValueKey> {
  const mains = new Map<string, ValueKey>();
  for (const device of devices) {
    const schema = schemas.get(device.dataFlow.deviceType?.id ?? '');
    const main = declaredMain(schema) ?? sentMain(latest.get(device.id)?.samples ?? []);
    if (main !== undefined) mains.set(device.id, main);
  }
  return mains;
}

/** The first number that the type declares, of its default topic if that has one. */
function declaredMain(schema: TypeSchema | undefined): ValueKey | undefined {
  if (schema === undefined) return undefined;
  return keysOf(schema)
    .map(([, key]) => key)
    .find(({ topic, key }) => {
      const property = schema[topic]?.properties?.[key];
      return isNumber(property) && property?.hideFromKpis !== true;
    });
}

function isNumber(property: Property | undefined): boolean {
  return property?.type === 'number' || property?.type === 'integer';
}

function sentMain(samples: readonly Sample[]): ValueKey | undefined {
  for (const { topic, data } of samples) {
    const key = Object.keys(data).find((name) => typeof data[name] === 'number');
    if (key !== undefined) return { topic, key, title: key };
  }
  return undefined;
}

function keysOf(schema: TypeSchema): [string, ValueKey][] {
  const topics = Object.keys(schema).sort((one, other) => topicRank(one) - topicRank(other));
  return topics.flatMap((topic) =>
    Object.entries(schema[topic]?.properties ?? {}).map(([key, { title, unit }]) => {
      const shown = unit === undefined ? {} : { unit };
      return [`${topic} ${key}`, { topic, key, title: title ?? key, ...shown }] as [
        string,
        ValueKey,
      ];
    }),
  );
}

function topicRank(topic: string): number {
  return topic === 'default' ? 0 : 1;
}
