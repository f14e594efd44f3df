// Routes of time series: the present form and the two older ones (interface 4.4, contract 21).
import { Readable } from 'node:stream';
import type { Static } from 'typebox';
import type { kpiPageQuery, seriesBody } from '../../contract/sample-queries.ts';
import type { Principal } from '../../model/principal.ts';
import { missing } from '../../structures/missing.ts';
import {
  hourlySeries,
  type manySeriesBody,
  metricSeries,
  olderSeries,
  sampleSeries,
  type SeriesEndpoints,
} from '../../contract/series-queries.ts';
import type { Source } from '../../query/bucket-plan.ts';
import { aggregationSeries, rawSeries, seriesText } from '../../query/legacy-series.ts';
import { expressionsOf, manySeriesJson } from '../../query/many-series.ts';
import type { QueriedDevice } from '../../query/accumulation.ts';
import { SeriesAnswer, seriesListJson } from '../../query/unwritten-json.ts';
import { seriesOfDevices, type TimeSeries } from '../../query/time-series.ts';
import {
  Answer,
  resourceRoute,
  route,
  type Route,
  unwrittenAnswer,
  writtenAnswer,
} from '../edge/route.ts';
import {
  deviceInPath,
  placeInPath,
  type Queries,
  queriedDevice,
  readableDevices,
  tagInPath,
} from './device-access.ts';
import { askedKey, askedValues, expressionReads } from './expressions.ts';
import { devicePage } from './kpi-queries.ts';

const jsonAnswer = { 'content-type': 'application/json; charset=utf-8' };

/** Raw and hourly series, and the older forms. */
export function seriesQueryRoutes(parts: Queries): Route[] {
  const inPath = deviceInPath(parts);
  return [
    ...sourceRoutes(sampleSeries, 'raw', parts),
    ...sourceRoutes(hourlySeries, 'hours', parts),
    route(metricSeries.many, async ({ body }, principal) =>
      writtenAnswer(await manySeries(body, principal, parts)),
    ),
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

/** The JSON that the route of many series answers. */
export async function manySeries(
  body: Static<typeof manySeriesBody>,
  principal: Principal,
  parts: Queries,
): Promise<string> {
  const ids = body.series.map(({ deviceId }) => deviceId);
  const devices = await readableDevices(ids, principal, parts);
  const source: Source = body.source === 'hourly' ? 'hours' : 'raw';
  const series = body.series.map((one, i) => ({
    ...one,
    dataKey: askedKey(one, `body series.${i}`),
    expression: one.dataKey === undefined ? one.expression : undefined,
  }));
  const query = { devices, source, body: { ...body, series }, now: parts.now() };
  const reads = await expressionReads(
    expressionsOf(query.body),
    body.timeZone,
    devices,
    principal,
    parts,
  );
  return manySeriesJson(query, { ...parts, store: reads });
}

function sourceRoutes(endpoints: SeriesEndpoints, source: Source, parts: Queries): Route[] {
  return [
    resourceRoute(
      endpoints.device,
      deviceInPath(parts),
      async ({ params: { deviceId }, body }, principal) => {
        const device = await queriedDevice(deviceId, parts);
        const [series] = await seriesOf([device], source, body, principal, parts);
        return unwrittenAnswer(new SeriesAnswer(series ?? missing('series of a device')));
      },
    ),
    route(endpoints.batch, async ({ body }, principal) => {
      const devices = await readableDevices(body.deviceIds, principal, parts);
      return writtenAnswer(seriesListJson(await seriesOf(devices, source, body, principal, parts)));
    }),
    resourceRoute(
      endpoints.tag,
      tagInPath(parts),
      async ({ params: { tagId }, query, body }, principal) =>
        seriesPage(await parts.devicesOfTag(tagId), query, (shown) =>
          seriesOf(shown, source, body, principal, parts),
        ),
    ),
    resourceRoute(
      endpoints.place,
      placeInPath(parts),
      async ({ params: { placeId }, query, body }, principal) =>
        seriesPage(await parts.devicesOfPlace(placeId), query, (shown) =>
          seriesOf(shown, source, body, principal, parts),
        ),
    ),
  ];
}

async function seriesPage(
  devices: readonly QueriedDevice[],
  query: Static<typeof kpiPageQuery>,
  computed: (shown: readonly QueriedDevice[]) => Promise<TimeSeries[]>,
) {
  const { content, ...page } = await devicePage(devices, query, computed);
  const rest = JSON.stringify(page).slice(1);
  return writtenAnswer(`{"content":${seriesListJson(content)},${rest}`);
}

async function seriesOf(
  devices: readonly QueriedDevice[],
  source: Source,
  body: Static<typeof seriesBody>,
  principal: Principal,
  parts: Queries,
): Promise<TimeSeries[]> {
  const asked = await askedValues(body, devices, principal, parts);
  return seriesOfDevices({ devices, source, body: asked.body, now: parts.now() }, asked.parts);
}
