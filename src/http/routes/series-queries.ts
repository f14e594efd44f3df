// Routes that answer time series of a device, in today's form and in the two older ones (interface 4.4, contract 21).
import {
  aggregationBody,
  aggregationSchema,
  deviceParams,
  rawSeriesBody,
  rawSeriesSchema,
  seriesBody,
  seriesSchema,
} from '../../contract/queries.ts';
import type { Source } from '../../query/bucket-plan.ts';
import { aggregationSeries, rawSeries } from '../../query/legacy-series.ts';
import type { ReadingStore } from '../../query/reading-store.ts';
import { deviceSeries } from '../../query/time-series.ts';
import { guardedRoute, type Route } from '../route.ts';
import { queriedDevice, readsDevice } from './device-access.ts';
import { type KpiQueryParts, sourcePaths } from './kpi-queries.ts';

export interface SeriesQueryParts extends KpiQueryParts {
  readonly store: ReadingStore;
}

const tag = 'Data';

/** Raw and hourly series, and the older forms. */
export function seriesQueryRoutes(parts: SeriesQueryParts): Route[] {
  return [
    ...sourcePaths.map(([path, source]) => seriesRoute(path, source, parts)),
    rawSeriesRoute(parts),
    aggregationRoute(parts),
  ];
}

function seriesRoute(path: string, source: Source, parts: SeriesQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path: `/v3/devices/:deviceId/query/${path}/time-series`,
    summary: `One number per bucket, from ${source === 'raw' ? 'samples' : 'hourly aggregates'}`,
    tag,
    access: readsDevice(parts),
    params: deviceParams,
    body: seriesBody,
    response: seriesSchema,
    handle: async ({ params: { deviceId }, body }) =>
      deviceSeries(await queriedDevice(deviceId, parts), source, body, parts.now(), parts),
  });
}

function rawSeriesRoute(parts: SeriesQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path: '/v3/devices/:deviceId/query/time-series',
    summary: 'Values of one key with their times, oldest first (older form)',
    tag,
    access: readsDevice(parts),
    params: deviceParams,
    body: rawSeriesBody,
    response: rawSeriesSchema,
    handle: async ({ params: { deviceId }, body }) => rawSeries(deviceId, body, parts.store),
  });
}

function aggregationRoute(parts: SeriesQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path: '/v3/devices/:deviceId/query/time-series/aggregation',
    summary: 'One number per bucket, from samples (older form)',
    tag,
    access: readsDevice(parts),
    params: deviceParams,
    body: aggregationBody,
    response: aggregationSchema,
    handle: async ({ params: { deviceId }, body }) =>
      aggregationSeries(await queriedDevice(deviceId, parts), body, parts.now(), parts),
  });
}
