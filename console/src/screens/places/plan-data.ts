// Plan data: the devices that a plan shows, what they measured last, and the values of the places below.
import { keepPreviousData, queryOptions, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { useStream } from '../../api/stream.ts';
import { fetchValueKeys, type ValueKey } from '../devices/device-values.ts';
import { type Place, placesKey } from './place-requests.ts';

/** Devices of one plan; of more, those first by name. */
export const planDevicesMax = 5_000;
const pageSize = 1_000;
const nestedMax = 1_000;
const refreshMs = 30_000;

const fields = [
  'id',
  'name',
  'deviceId',
  'onlineState',
  'onlineTimeout',
  'place',
  'planPosition',
  'dataFlow',
] as const;
export type PlanDevice = Pick<components['schemas']['Device'], (typeof fields)[number]>;

export interface PlanDevices {
  readonly devices: readonly PlanDevice[];
  /** Of the place and all below it, those on plans of their own included. */
  readonly total: number;
}

/** Devices at the place and below it, but for those that a place below shows on its own plan. */
export const planDevicesOf = (place: Place) =>
  queryOptions({
    queryKey: [...placesKey(place.workspaceId), 'plan devices', place.id],
    refetchInterval: refreshMs,
    queryFn: async ({ signal }): Promise<PlanDevices> => {
      const nested = await nestedPlans(place, signal);
      const devices: PlanDevice[] = [];
      let total = 0;
      for (let page = 0; page * pageSize < planDevicesMax; page++) {
        const query = {
          workspaceId: place.workspaceId,
          'places.ids': place.id,
          fields: fields.join(),
          sort: 'name,asc',
          page,
          size: pageSize,
        };
        const answer = await ask(platform.GET('/v3/assets', { signal, params: { query } }));
        total = answer.totalElements;
        devices.push(...answer.content);
        if (devices.length >= total) break;
      }
      const isOwn = ({ place: at }: PlanDevice) =>
        at !== null && !nested.some((path) => beginsWith(at.path, path));
      return { devices: nested.length === 0 ? devices : devices.filter(isOwn), total };
    },
  });

/** Paths, by names, of the places below that have a plan. Siblings have different names. */
async function nestedPlans(place: Place, signal: AbortSignal): Promise<readonly string[][]> {
  const query = { workspaceId: place.workspaceId, hasPlan: true, size: nestedMax };
  const { content } = await ask(platform.GET('/v3/places', { signal, params: { query } }));
  return content
    .filter(({ id, path }) => id !== place.id && path.some((step) => step.id === place.id))
    .map(({ path }) => path.map(({ name }) => name));
}

function beginsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((name, at) => path[at] === name);
}

/** Numbers that the devices declare or have sent. */
export const planKeysOf = (place: Place, devices: readonly PlanDevice[]) =>
  queryOptions({
    queryKey: [...placesKey(place.workspaceId), 'plan keys', place.id],
    staleTime: refreshMs,
    queryFn: async ({ signal }): Promise<readonly ValueKey[]> => {
      const body = { placeId: place.id, size: 100 };
      const declared = await fetchValueKeys(devices);
      const sent = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
      const names = new Map(declared.map((key) => [`${key.topic} ${key.key}`, key]));
      const numbers = new Map<string, ValueKey>();
      for (const { samples } of sent.content)
        for (const { topic, data } of samples)
          for (const [key, value] of Object.entries(data)) {
            const name = `${topic} ${key}`;
            if (typeof value === 'number')
              numbers.set(name, names.get(name) ?? { topic, key, title: key });
          }
      return [...numbers.values()].toSorted((a, b) => a.title.localeCompare(b.title));
    },
  });

export type PlanValues = ReadonlyMap<string, number>;

/** The last number of each device, now or at an earlier moment (ISO-8601). */
export const planValuesOf = (place: Place, color: string | undefined, at?: string) => {
  const { topic, key } = partsOf(color);
  const then = at === undefined ? {} : { at };
  return queryOptions({
    queryKey: [...placesKey(place.workspaceId), 'plan values', place.id, color, at],
    enabled: color !== undefined,
    // What was the newest then stays so, but for corrections.
    refetchInterval: at === undefined ? refreshMs : (false as const),
    // While the moment moves, the plan keeps its colors.
    placeholderData: (before: PlanValues | undefined, earlier): PlanValues | undefined =>
      earlier?.queryKey.at(-2) === color ? before : undefined,
    queryFn: async ({ signal }): Promise<PlanValues> => {
      const values = new Map<string, number>();
      for (let page = 0; page * pageSize < planDevicesMax; page++) {
        const of = { placeId: place.id, topics: [topic], keys: [key], ...then };
        const body = { ...of, page, size: pageSize };
        const answer = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
        for (const { deviceId, values: last } of answer.content) {
          const value = last?.[key]?.value;
          if (typeof value === 'number') values.set(deviceId, value);
        }
        if ((page + 1) * pageSize >= answer.totalElements) break;
      }
      return values;
    },
  });
};

export function partsOf(color: string | undefined): { topic: string; key: string } {
  const [topic = '', ...key] = (color ?? '').split(' ');
  return { topic, key: key.join(' ') };
}

/** A burst of samples is drawn in one turn. */
const batchMs = 250;

/** Values that arrive on the live stream replace those that were asked for; of an earlier moment none do. */
export function useLiveValues(place: Place, color: string | undefined, at?: string): void {
  const known = useQueryClient();
  const waiting = useRef({ of: '', values: new Map<string, number>() });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { topic, key } = partsOf(color);
  const { queryKey } = planValuesOf(place, color);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  const flush = () => {
    timer.current = undefined;
    const { values } = waiting.current;
    waiting.current = { of: '', values: new Map() };
    known.setQueryData(queryKey, (before) =>
      before === undefined ? before : new Map([...before, ...values]),
    );
  };
  const isFollowed = color !== undefined && at === undefined;
  useStream(isFollowed ? { placeId: place.id } : undefined, {
    onSample(sample) {
      const value = sample.data[key];
      if (sample.topic !== topic || typeof value !== 'number') return;
      const name = queryKey.join();
      // What waits for another place or value is not shown any more.
      if (waiting.current.of !== name) {
        waiting.current = { of: name, values: new Map() };
        clearTimeout(timer.current);
        timer.current = undefined;
      }
      waiting.current.values.set(sample.deviceId, value);
      timer.current ??= setTimeout(flush, batchMs);
    },
  });
}

const hourMs = 3_600_000;

/** The average of the last hour, or of that before the moment, of each place directly below. */
export const valuesBelow = (place: Place, color: string | undefined, at?: string) => {
  const { topic, key } = partsOf(color);
  return queryOptions({
    queryKey: [...placesKey(place.workspaceId), 'values below', place.id, color, at],
    enabled: color !== undefined,
    placeholderData: keepPreviousData,
    refetchInterval: at === undefined ? refreshMs : (false as const),
    queryFn: async ({ signal }): Promise<PlanValues> => {
      const now = at === undefined ? Date.now() : Date.parse(at);
      const body = {
        workspaceId: place.workspaceId,
        parentId: place.id,
        topic,
        dataKey: key,
        accumulator: 'AVG' as const,
        combine: 'AVG' as const,
        interval: { from: new Date(now - hourMs).toISOString(), to: new Date(now).toISOString() },
      };
      const rows = await ask(platform.POST('/v3/places/query/values', { signal, body }));
      return new Map(
        rows.flatMap(({ placeId, value }) =>
          typeof value !== 'number' ? [] : [[placeId, value] as const],
        ),
      );
    },
  });
};
