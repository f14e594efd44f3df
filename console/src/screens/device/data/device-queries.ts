// Requests of a device's pages: the record, its schema, its newest samples and its series.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { type StoredState, storedStates } from '../../../api/stored-state.ts';
import type { LiveSample } from '../../../api/stream.ts';
import type { TopicSchemas } from './data-keys.ts';

export type Device = components['schemas']['Device'];
export type ManySeriesBody = components['schemas']['ManySeriesBody'];
export type MetricSeries = components['schemas']['MetricSeries'];

/** A state that falls silent is seen without an event. */
const stateMs = 30_000;
const historyRows = 50;
const schemaMs = 60_000;

/** What stored samples say of a device that has sent nothing itself. */
export function useStoredState({ id, uplinkMetrics }: Device): StoredState | undefined {
  return useQuery(storedStates(uplinkMetrics === null ? [id] : [])).data?.get(id);
}

export const deviceQuery = (id: string) =>
  queryOptions({
    queryKey: ['device', id],
    refetchInterval: stateMs,
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/devices/{id}', { signal, params: { path: { id } } })),
  });

export const schemaQuery = (deviceId: string) =>
  queryOptions({
    queryKey: ['schema', deviceId],
    staleTime: schemaMs,
    queryFn: async ({ signal }) => {
      const params = { path: { deviceId } };
      const schemas = await ask(
        platform.GET('/v3/devices/{deviceId}/infer-schema', { signal, params }),
      );
      return schemas as TopicSchemas;
    },
  });

/** The newest sample of every topic. */
export const newestQuery = (deviceId: string) =>
  queryOptions({
    queryKey: ['newest', deviceId],
    queryFn: async ({ signal }) => {
      const body = { deviceIds: [deviceId] };
      const { content } = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
      return (content[0]?.samples ?? []) as readonly Omit<LiveSample, 'deviceId'>[];
    },
  });

/** As many keys as one request takes. */
const keysMax = 100;

/** The last value of each key that is not null, also where newer samples do not have it. */
export const lastValuesQuery = (deviceId: string, keys: readonly string[]) =>
  queryOptions({
    queryKey: ['last-values', deviceId, keys],
    enabled: keys.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const body = { deviceIds: [deviceId], keys: keys.slice(0, keysMax) };
      const { content } = await ask(platform.POST('/v3/devices/query/latest', { signal, body }));
      return content[0]?.values ?? {};
    },
  });

/** The last samples before the live ones, newest first. */
export const historyQuery = (deviceId: string) =>
  queryOptions({
    queryKey: ['history', deviceId],
    staleTime: 0,
    queryFn: async ({ signal }) => {
      const params = { path: { deviceId }, query: { topic: '*', limit: historyRows } };
      const samples = await ask(platform.GET('/v3/devices/{deviceId}/query', { signal, params }));
      return samples;
    },
  });

/** Series of many; `bodyAt` returns the request at a time in epoch milliseconds. */
export const seriesQuery = (
  key: readonly unknown[],
  bodyAt: (nowMs: number) => ManySeriesBody,
  refetchMs: number | false,
) =>
  queryOptions({
    queryKey: ['series', ...key],
    placeholderData: keepPreviousData,
    refetchInterval: refetchMs,
    queryFn: async ({ signal }) => {
      const body = bodyAt(Date.now());
      const series = await ask(
        platform.POST('/v3/devices/query/batch/time-series', { signal, body }),
      );
      return { series, interval: body.interval };
    },
  });
