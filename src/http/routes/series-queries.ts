// Routes of time series: the present form and the two older ones (interface 4.4, contract 21).
import { Readable } from 'node:stream';
import {
  hourlySeries,
  metricSeries,
  olderSeries,
  sampleSeries,
  type SeriesEndpoints,
} from '../../contract/series-queries.ts';
import type { Source } from '../../query/bucket-plan.ts';
import { aggregationSeries, rawSeries, seriesText } from '../../query/legacy-series.ts';
import { manySeriesJson } from '../../query/many-series.ts';
import type { ReadingStore } from '../../query/accumulation.ts';
import {
  deviceSeries,
  seriesJson,
  seriesListJson,
  seriesOfDevices,
} from '../../query/time-series.ts';
import { Answer, resourceRoute, type Route, route, writtenAnswer } from '../edge/route.ts';
import { deviceInPath, queriedDevice, readableDevices, tagInPath } from './device-access.ts';
import { devicePage, type KpiQueryParts } from './kpi-queries.ts';

export interface SeriesQueryParts extends KpiQueryParts {
  readonly store: ReadingStore;
}

const jsonAnswer = { 'content-type': 'application/json; charset=utf-8' };

/** Raw and hourly series, and the older forms. */
export function seriesQueryRoutes(parts: SeriesQueryParts): Route[] {
  const inPath = deviceInPath(parts);
  return [
    ...sourceRoutes(sampleSeries, 'raw', parts),
    ...sourceRoutes(hourlySeries, 'hours', parts),
    route(metricSeries.many, async ({ body }, principal) => {
      const ids = body.series.map(({ deviceId }) => deviceId);
      const devices = await readableDevices(ids, principal, parts);
      const source: Source = body.source === 'hourly' ? 'hours' : 'raw';
      const query = { devices, source, body, now: parts.now() };
      return writtenAnswer(await manySeriesJson(query, parts));
    }),
    resourceRoute(olderSeries.values, inPath, async ({ params: { deviceId }, body, signal }) => {
      const series = await rawSeries(deviceId, body, parts.store, { signal });
      const thinned = series.thinned && { 'x-thinned': 'true' };
      const text = Readable.from(seriesText(series, body.dataKey));
      return new Answer<never>(200, text, { ...jsonAnswer, ...thinned });
    }),
    resourceRoute(olderSeries.aggregation, inPath, async ({ params: { deviceId }, body }) =>
      aggregationSeries(await queriedDevice(deviceId, parts), body, parts.now(), parts),
    ),
  ];
}

function sourceRoutes(
  endpoints: SeriesEndpoints,
  source: Source,
  parts: SeriesQueryParts,
): Route[] {
  return [
    resourceRoute(endpoints.device, deviceInPath(parts), async ({ params: { deviceId }, body }) => {
      const device = await queriedDevice(deviceId, parts);
      const series = await deviceSeries(device, { source, body, now: parts.now() }, parts);
      return writtenAnswer(seriesJson(series));
    }),
    route(endpoints.batch, async ({ body }, principal) => {
      const devices = await readableDevices(body.deviceIds, principal, parts);
      const query = { devices, source, body, now: parts.now() };
      return writtenAnswer(seriesListJson(await seriesOfDevices(query, parts)));
    }),
    resourceRoute(endpoints.tag, tagInPath(parts), async ({ params: { tagId }, query, body }) => {
      const devices = await parts.devicesOfTag(tagId);
      const { content, ...page } = await devicePage(devices, query, (shown) =>
        seriesOfDevices({ devices: shown, source, body, now: parts.now() }, parts),
      );
      const rest = JSON.stringify(page).slice(1);
      return writtenAnswer(`{"content":${seriesListJson(content)},${rest}`);
    }),
  ];
}
