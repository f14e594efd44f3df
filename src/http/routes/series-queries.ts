// Routes of time series: the present form and the two older ones (interface 4.4, contract 21).
import { Readable } from 'node:stream';
import type { Static } from 'typebox';
import type { kpiPageQuery, seriesBody } from '../../contract/sample-queries.ts';
import type { Principal } from '../../model/principal.ts';
import { problem, Problem } from '../../model/problem.ts';
import { missing } from '../../structures/missing.ts';
import {
  combinedDevicesMax,
  hourlySeries,
  type manySeriesBody,
  metricSeries,
  olderSeries,
  sampleSeries,
  type SeriesEndpoints,
} from '../../contract/series-queries.ts';
import type { Source } from '../../query/bucket-plan.ts';
import { aggregationSeries, rawSeries, seriesText } from '../../query/legacy-series.ts';
import { type DeviceGroup, expressionsOf, manySeriesJson } from '../../query/many-series.ts';
import type { QueriedDevice } from '../../query/accumulation.ts';
import { SeriesAnswer, seriesListJson } from '../../query/unwritten-json.ts';
import { DeviceQueries, type TimeSeries } from '../../query/device-queries.ts';
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
  noneIfNotFound,
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
  const queries = new DeviceQueries(parts.store, parts.calendars);
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
      aggregationSeries(await queriedDevice(deviceId, parts), body, parts.now(), queries),
    ),
  ];
}

type WantedSeries = Static<typeof manySeriesBody>['series'][number];

/** The JSON that the route of many series answers. */
export async function manySeries(
  body: Static<typeof manySeriesBody>,
  principal: Principal,
  parts: Queries,
): Promise<string> {
  const groups = await deviceGroups(body, principal, parts);
  const ids = body.series.flatMap(({ deviceId }) => deviceId ?? []);
  const read = readableDevices(ids, principal, parts);
  // Beside groups, all single devices may be unknown.
  const devices = (await (groups.size === 0 ? read : read.catch(noneIfNotFound))) ?? [];
  const source: Source = body.source === 'hourly' ? 'hours' : 'raw';
  const series = body.series.map((one, i) => ({
    ...one,
    dataKey: askedKey(one, `body series.${i}`),
    expression: one.dataKey === undefined ? one.expression : undefined,
  }));
  const query = { devices, groups, source, body: { ...body, series }, now: parts.now() };
  const combined = [...groups.values()].flatMap((group) => group.devices);
  const reads = await expressionReads(
    expressionsOf(query.body),
    body.timeZone,
    [...devices, ...combined],
    principal,
    parts,
  );
  return manySeriesJson(query, new DeviceQueries(reads, parts.calendars));
}

// Groups: devices that a series combines, by a tag, a place, or their ids.

/** Of one request. */
const groupedDevicesMax = 20_000;

/**
 * By the place of the series; one of an unknown tag or place is omitted. Throws Problem 400, 403, and
 * 404 when the request has nothing else.
 */
async function deviceGroups(
  { series, timeZone }: Static<typeof manySeriesBody>,
  principal: Principal,
  parts: Queries,
): Promise<ReadonlyMap<number, DeviceGroup>> {
  const groups = new Map<number, DeviceGroup>();
  const known = new Map<string, DeviceGroup | Problem>();
  let count = 0;
  for (const [i, one] of series.entries()) {
    const refuse = (reason: string) =>
      problem('invalidRequest', { reason: `body series.${i}${reason}` });
    const fault = sourceFault(one);
    if (fault !== undefined) throw refuse(fault);
    if (!one.devices) continue;
    const key = JSON.stringify(one.devices);
    const group = known.get(key) ?? (await groupOf(one.devices, principal, parts));
    known.set(key, group);
    if (group instanceof Problem) continue;
    const { devices, workspaceId } = group;
    if (devices.length > combinedDevicesMax)
      throw refuse(
        `.devices: ${devices.length} devices; a series combines at most ${combinedDevicesMax}`,
      );
    count += devices.length;
    if (count > groupedDevicesMax)
      throw refuse(
        `.devices: the series of a request combine at most ${groupedDevicesMax} devices in total`,
      );
    if (!timeZone && devices.some((device) => device.workspaceId !== workspaceId))
      throw refuse('.devices: the devices are in different workspaces; set timeZone');
    groups.set(i, group);
  }
  const [unknown] = known.values();
  const isAlone = groups.size === 0 && series.every(({ deviceId }) => !deviceId);
  if (isAlone && unknown instanceof Problem) throw unknown;
  return groups;
}

function sourceFault({ deviceId, devices, across }: WantedSeries): string | undefined {
  if (Boolean(deviceId) === Boolean(devices)) return ': set exactly one of deviceId and devices';
  if (devices && !across) return '.across: is required with devices';
  if (!devices) return across ? '.across: requires devices' : undefined;
  const { deviceIds, tagId, placeId } = devices;
  return [deviceIds, tagId, placeId].filter(Boolean).length === 1
    ? undefined
    : '.devices: set exactly one of deviceIds, tagId, and placeId';
}

/** The Problem 404 of an unknown tag or place, or of ids that are all unknown. */
async function groupOf(
  { deviceIds, tagId, placeId }: NonNullable<WantedSeries['devices']>,
  principal: Principal,
  parts: Queries,
): Promise<DeviceGroup | Problem> {
  try {
    if (deviceIds) {
      const devices = await readableDevices(deviceIds, principal, parts);
      return { workspaceId: devices[0]?.workspaceId ?? '', devices };
    }
    const owner = tagId ? await parts.placeOfTag(tagId) : await parts.ownerOfPlace(placeId ?? '');
    parts.authorize(principal, 'asset', 'read', owner);
    const devices = tagId
      ? await parts.devicesOfTag(tagId)
      : await parts.devicesOfPlace(placeId ?? '');
    return { workspaceId: owner.workspaceId ?? '', devices };
  } catch (error) {
    if (error instanceof Problem && error.problem === 'notFound') return error;
    throw error;
  }
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
  return asked.queries.series({ devices, source, body: asked.body, now: parts.now() });
}
