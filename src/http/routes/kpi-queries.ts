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
import type { Principal } from '../../model/principal.ts';
import type { AccumulationBody, QueriedDevice } from '../../query/accumulation.ts';
import type { Source } from '../../query/bucket-plan.ts';
import { accumulatedKpi, type DeviceKpi, deviceKpis, type QueryParts } from '../../query/kpi.ts';
import { pageRequestOf } from '../list-query.ts';
import { guardedRoute, type Route } from '../route.ts';
import { type DeviceAccess, queriedDevice, readsDevice, readsTag } from './device-access.ts';

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
      kpiPage(await parts.devicesOfTag(tagId), query, source, body, parts),
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
      const { kpi, topic, dataKey } = await accumulatedKpi(devices, source, body, parts.now(), parts);
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
      kpiPage(await readableDevices(body.deviceIds, principal, parts), query, source, body, parts),
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
      const { kpi, topic, dataKey } = await accumulatedKpi(devices, source, body, parts.now(), parts);
      return { kpi, topic, dataKey, deviceIds: devices.map(({ id }) => id) };
    },
  });
}

/** Only the devices of the page are computed. */
async function kpiPage(
  devices: readonly QueriedDevice[],
  query: Static<typeof kpiPageQuery>,
  source: Source,
  body: AccumulationBody,
  parts: KpiQueryParts,
): Promise<Page<DeviceKpi>> {
  const request = pageRequestOf(query);
  const { page, size } = request;
  const shown = devices.slice(page * size, (page + 1) * size);
  const kpis = await deviceKpis(shown, source, body, parts.now(), parts);
  return pageOf(kpis, devices.length, request);
}

/** Each named device once; one that is unknown (404) or not readable (403) refuses the whole request. */
async function readableDevices(
  deviceIds: readonly string[],
  principal: Principal,
  parts: DeviceAccess,
): Promise<QueriedDevice[]> {
  const devices: QueriedDevice[] = [];
  for (const deviceId of new Set(deviceIds)) {
    parts.authorize(principal, 'asset', 'read', await parts.placeOfDevice(deviceId));
    devices.push(await queriedDevice(deviceId, parts));
  }
  return devices;
}

function sourceName(source: Source): string {
  return source === 'raw' ? 'samples' : 'hourly aggregates';
}
