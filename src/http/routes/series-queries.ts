// Routes that answer time series of a device, in today's form and in the two older ones (interface 4.4, contract 21).
import { Readable } from 'node:stream';
import {
  aggregationBody,
  aggregationSchema,
  batchSeriesBody,
  deviceParams,
  kpiPageQuery,
  rawSeriesBody,
  rawSeriesSchema,
  seriesBody,
  seriesSchema,
  tagParams,
} from '../../contract/queries.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { list } from '../../contract/record-fields.ts';
import type { Source } from '../../query/bucket-plan.ts';
import { aggregationSeries, rawSeries, seriesText } from '../../query/legacy-series.ts';
import type { ReadingStore } from '../../query/sample-reader.ts';
import { deviceSeries, seriesOfDevices } from '../../query/time-series.ts';
import { Answer, guardedRoute, type Route } from '../edge/route.ts';
import { queriedDevice, readableDevices, readsDevice, readsTag } from './device-access.ts';
import { devicePage, type KpiQueryParts, sourceName, sourcePaths } from './kpi-queries.ts';

export interface SeriesQueryParts extends KpiQueryParts {
  readonly store: ReadingStore;
}

const tag = 'Data';
const jsonAnswer = { 'content-type': 'application/json; charset=utf-8' };

/** Raw and hourly series, and the older forms. */
export function seriesQueryRoutes(parts: SeriesQueryParts): Route[] {
  return [
    ...sourcePaths.flatMap(([path, source]) => [
      seriesRoute(path, source, parts),
      batchSeriesRoute(path, source, parts),
      tagSeriesRoute(path, source, parts),
    ]),
    rawSeriesRoute(parts),
    aggregationRoute(parts),
  ];
}

function seriesRoute(path: string, source: Source, parts: SeriesQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path: `/v3/devices/:deviceId/query/${path}/time-series`,
    summary: `One number per bucket, from ${sourceName(source)}`,
    tag,
    access: readsDevice(parts),
    params: deviceParams,
    body: seriesBody,
    response: seriesSchema,
    handle: async ({ params: { deviceId }, body }) =>
      deviceSeries(await queriedDevice(deviceId, parts), source, body, parts.now(), parts),
  });
}

function batchSeriesRoute(path: string, source: Source, parts: SeriesQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path: `/v3/devices/query/batch/${path}/time-series`,
    summary: `One time series per device of a list, from ${sourceName(source)}`,
    tag,
    access: { scope: 'asset', verb: 'read', place: { narrowedByHandler: true } },
    body: batchSeriesBody,
    response: list(seriesSchema),
    handle: async ({ body }, principal) => {
      const devices = await readableDevices(body.deviceIds, principal, parts);
      return seriesOfDevices(devices, source, body, parts.now(), parts);
    },
  });
}

function tagSeriesRoute(path: string, source: Source, parts: SeriesQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path: `/v3/tags/:tagId/query/${path}/time-series`,
    summary: `One time series per device of a tag, from ${sourceName(source)}`,
    tag,
    access: readsTag(parts),
    params: tagParams,
    query: kpiPageQuery,
    body: seriesBody,
    response: pageSchema(seriesSchema),
    handle: async ({ params: { tagId }, query, body }) => {
      const devices = await parts.devicesOfTag(tagId);
      return devicePage(devices, query, (shown) =>
        seriesOfDevices(shown, source, body, parts.now(), parts),
      );
    },
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
    answerHeaders: {
      'X-Thinned': 'true when points were left out: there are more than 250,000 in the range',
    },
    handle: async ({ params: { deviceId }, body, signal }) => {
      const series = await rawSeries(deviceId, body, parts.store, signal);
      const thinned = series.thinned ? { 'x-thinned': 'true' } : {};
      return new Answer<never>(200, Readable.from(seriesText(series, body.dataKey)), {
        ...jsonAnswer,
        ...thinned,
      });
    },
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
