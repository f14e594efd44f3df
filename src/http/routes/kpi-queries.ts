// Routes that answer one number: per device, per tag and for lists of devices (interface 4.4 and 4.5, contract 21).
import type { Static } from 'typebox';
import { pageSchema } from '../../contract/page-envelope.ts';
import {
  batchKpiBody,
  batchKpiSchema,
  deviceParams,
  kpiBody,
  kpiPageQuery,
  kpiSchema,
  tagKpiSchema,
  tagParams,
} from '../../contract/queries.ts';
import { type Page, pageOf } from '../../model/page.ts';
import type { QueriedDevice } from '../../query/accumulation.ts';
import type { Source } from '../../query/bucket-plan.ts';
import { accumulatedKpi, deviceKpis, type QueryParts } from '../../query/kpi.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import {
  type DeviceAccess,
  queriedDevice,
  readableDevices,
  readsDevice,
  readsTag,
} from './device-access.ts';

export interface KpiQueryParts extends QueryParts, DeviceAccess {
  readonly now: () => number;
}

const tag = 'Data';
/** The two sources of every number, as paths name them. */
export const sourcePaths = [
  ['raw', 'raw'],
  ['aggregated/hourly', 'hours'],
] as const satisfies readonly (readonly [string, Source])[];

/** KPI of a device, of each device of a tag, of all of them together, and the same for lists of devices. */
export function kpiQueryRoutes(parts: KpiQueryParts): Route[] {
  const all = sourcePaths.flatMap(([path, source]) => [
    deviceKpiRoute(path, source, parts),
    tagKpiRoute(path, source, parts),
    tagAccumulatedRoute(path, source, parts),
    batchKpiRoute(`/v3/devices/query/batch/${path}/kpi`, source, parts),
    batchAccumulatedRoute(path, source, parts),
  ]);
  return [...all, batchKpiRoute('/v3/devices/query/batch', 'raw', parts)];
}

function deviceKpiRoute(path: string, source: Source, parts: KpiQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path: `/v3/devices/:deviceId/query/${path}/kpi`,
    summary: `One number of a device, from ${sourceName(source)}`,
    tag,
    access: readsDevice(parts),
    params: deviceParams,
    body: kpiBody,
    response: kpiSchema,
    handle: async ({ params: { deviceId }, body }) => {
      const device = await queriedDevice(deviceId, parts);
      const [kpi] = await deviceKpis([device], source, body, parts.now(), parts);
      return kpi;
    },
  });
}

function tagKpiRoute(path: string, source: Source, parts: KpiQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path: `/v3/tags/:tagId/query/${path}/kpi`,
    summary: `One number per device of a tag, from ${sourceName(source)}`,
    tag,
    access: readsTag(parts),
    params: tagParams,
    query: kpiPageQuery,
    body: kpiBody,
    response: pageSchema(kpiSchema),
    handle: async ({ params: { tagId }, query, body }) =>
      devicePage(await parts.devicesOfTag(tagId), query, (shown) =>
        deviceKpis(shown, source, body, parts.now(), parts),
      ),
  });
}

function tagAccumulatedRoute(path: string, source: Source, parts: KpiQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path: `/v3/tags/:tagId/query/${path}/accumulated-kpi`,
    summary: `One number summed over the devices of a tag, from ${sourceName(source)}`,
    tag,
    access: readsTag(parts),
    params: tagParams,
    body: kpiBody,
    response: tagKpiSchema,
    handle: async ({ params: { tagId }, body }) => {
      const devices = await parts.devicesOfTag(tagId);
      const { kpi, topic, dataKey } = await accumulatedKpi(
        devices,
        source,
        body,
        parts.now(),
        parts,
      );
      return { kpi, tagId, topic, dataKey };
    },
  });
}

function batchKpiRoute(path: string, source: Source, parts: KpiQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path,
    summary: `One number per device of a list, from ${sourceName(source)}`,
    tag,
    access: { scope: 'asset', verb: 'read', place: { narrowedByHandler: true } },
    query: kpiPageQuery,
    body: batchKpiBody,
    response: pageSchema(kpiSchema),
    handle: async ({ query, body }, principal) =>
      devicePage(await readableDevices(body.deviceIds, principal, parts), query, (shown) =>
        deviceKpis(shown, source, body, parts.now(), parts),
      ),
  });
}

function batchAccumulatedRoute(path: string, source: Source, parts: KpiQueryParts): Route {
  return guardedRoute({
    method: 'POST',
    path: `/v3/devices/query/batch/${path}/accumulated-kpi`,
    summary: `One number summed over a list of devices, from ${sourceName(source)}`,
    tag,
    access: { scope: 'asset', verb: 'read', place: { narrowedByHandler: true } },
    body: batchKpiBody,
    response: batchKpiSchema,
    handle: async ({ body }, principal) => {
      const devices = await readableDevices(body.deviceIds, principal, parts);
      const { kpi, topic, dataKey } = await accumulatedKpi(
        devices,
        source,
        body,
        parts.now(),
        parts,
      );
      return { kpi, topic, dataKey, deviceIds: devices.map(({ id }) => id) };
    },
  });
}

/** One item per device, computed for the devices of the page only. */
export async function devicePage<T>(
  devices: readonly QueriedDevice[],
  query: Static<typeof kpiPageQuery>,
  computed: (shown: readonly QueriedDevice[]) => Promise<readonly T[]>,
): Promise<Page<T>> {
  const request = pageRequestOf(query);
  const { page, size } = request;
  const shown = devices.slice(page * size, (page + 1) * size);
  return pageOf(await computed(shown), devices.length, request);
}

export function sourceName(source: Source): string {
  return source === 'raw' ? 'samples' : 'hourly aggregates';
}
