// Routes of KPIs: per device, per tag and for lists of devices; expected ranges and forecasts (interface 4.4, 4.5, contract 21, 38).
import type { Static } from 'typebox';
import {
  batchKpi,
  expectations,
  hourlyKpis,
  type KpiEndpoints,
  placeValues,
  sampleKpis,
} from '../../contract/kpi-queries.ts';
import type { kpiBody, kpiPageQuery } from '../../contract/sample-queries.ts';
import { hourMs } from '../../model/instant.ts';
import { type Page, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { type QueriedDevice, readAccumulation } from '../../query/accumulation.ts';
import type { Source } from '../../query/bucket-plan.ts';
import { combined } from '../../query/summaries/across.ts';
import { type DeviceKpi, DeviceQueries } from '../../query/device-queries.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, route, type Route } from '../edge/route.ts';
import {
  deviceInPath,
  placeInPath,
  type Queries,
  queriedDevice,
  readableDevices,
  tagInPath,
} from './device-access.ts';
import { askedValues } from './expressions.ts';
import { expectedRange } from '../../query/expected-range.ts';
import { forecasts } from '../../query/forecast.ts';

/**
 * KPI of a device, of each device of a tag, of all of them together, and the same for lists of
 * devices; expected ranges and forecasts.
 */
export function kpiQueryRoutes(parts: Queries): Route[] {
  return [
    ...sourceRoutes(sampleKpis, 'raw', parts),
    ...sourceRoutes(hourlyKpis, 'hours', parts),
    batchRoute(batchKpi, 'raw', parts),
    placeValuesRoute(parts),
    ...expectationRoutes(parts),
  ];
}

/** Intervals up to this one are read from samples: hours would be too coarse. */
const rawMax = 25 * hourMs;

/** One number per place; each device is computed once, however many places it is below. */
function placeValuesRoute(parts: Queries): Route {
  const owner = ({ workspaceId }: { readonly workspaceId: string }) =>
    parts.ownerOfWorkspace(workspaceId);
  return resourceRoute(placeValues, owner, async ({ body }, principal) => {
    const { workspaceId, parentId, placeIds, combine, ...wanted } = body;
    if ((parentId === undefined) === (placeIds === undefined))
      throw problem('invalidRequest', {
        reason: 'body: set exactly one of parentId and placeIds',
      });
    const of = placeIds === undefined ? { parentId: parentId ?? null } : { placeIds };
    const groups = await parts.devicesByPlace(workspaceId, of);
    const ids = [...new Set([...groups.values()].flat())];
    const devices = ids.map((id) => ({ id, workspaceId }));
    const asked = await askedValues(wanted, devices, principal, parts);
    const { from, to } = readAccumulation(asked.body, parts.calendars.openZone).interval;
    const source = to - from > rawMax ? 'hours' : 'raw';
    const kpis = await asked.queries.kpis({ devices, source, body: asked.body, now: parts.now() });
    const numbers = new Map(kpis.map(({ deviceId, kpi }) => [deviceId, kpi]));
    return [...groups].map(([placeId, grouped]) => {
      const values = grouped.flatMap((id) => numbers.get(id) ?? []);
      const value = combined(combine, values);
      return { placeId, value, devices: grouped.length, withValue: values.length };
    });
  });
}

function sourceRoutes(endpoints: KpiEndpoints, source: Source, parts: Queries): Route[] {
  const tagged = tagInPath(parts);
  const placed = placeInPath(parts);
  return [
    resourceRoute(endpoints.device, deviceInPath(parts), async ({ params, body }, principal) => {
      const device = await queriedDevice(params.deviceId, parts);
      const [kpi] = await kpisOf([device], source, body, principal, parts);
      return kpi;
    }),
    resourceRoute(endpoints.tag, tagged, async ({ params: { tagId }, query, body }, principal) =>
      devicePage(await parts.devicesOfTag(tagId), query, (shown) =>
        kpisOf(shown, source, body, principal, parts),
      ),
    ),
    resourceRoute(
      endpoints.tagAccumulated,
      tagged,
      async ({ params: { tagId }, body }, principal) => {
        const devices = await parts.devicesOfTag(tagId);
        return { ...(await totalOf(devices, source, body, principal, parts)), tagId };
      },
    ),
    resourceRoute(
      endpoints.place,
      placed,
      async ({ params: { placeId }, query, body }, principal) =>
        devicePage(await parts.devicesOfPlace(placeId), query, (shown) =>
          kpisOf(shown, source, body, principal, parts),
        ),
    ),
    resourceRoute(
      endpoints.placeAccumulated,
      placed,
      async ({ params: { placeId }, body }, principal) => {
        const devices = await parts.devicesOfPlace(placeId);
        return { ...(await totalOf(devices, source, body, principal, parts)), placeId };
      },
    ),
    batchRoute(endpoints.batch, source, parts),
    route(endpoints.batchAccumulated, async ({ body }, principal) => {
      const devices = await readableDevices(body.deviceIds, principal, parts);
      const kpi = await totalOf(devices, source, body, principal, parts);
      return { ...kpi, deviceIds: devices.map(({ id }) => id) };
    }),
  ];
}

function batchRoute(endpoint: KpiEndpoints['batch'], source: Source, parts: Queries): Route {
  return route(endpoint, async ({ query, body }, principal) =>
    devicePage(await readableDevices(body.deviceIds, principal, parts), query, (shown) =>
      kpisOf(shown, source, body, principal, parts),
    ),
  );
}

async function kpisOf(
  devices: readonly QueriedDevice[],
  source: Source,
  body: Static<typeof kpiBody>,
  principal: Principal,
  parts: Queries,
): Promise<DeviceKpi[]> {
  const asked = await askedValues(body, devices, principal, parts);
  return asked.queries.kpis({ devices, source, body: asked.body, now: parts.now() });
}

async function totalOf(
  devices: readonly QueriedDevice[],
  source: Source,
  body: Static<typeof kpiBody>,
  principal: Principal,
  parts: Queries,
): ReturnType<DeviceQueries['total']> {
  const asked = await askedValues(body, devices, principal, parts);
  return asked.queries.total({ devices, source, body: asked.body, now: parts.now() });
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

// Routes of expected ranges and forecasts (contract 38).

function expectationRoutes(parts: Queries): Route[] {
  const queries = new DeviceQueries(parts.store, parts.calendars);
  return [
    resourceRoute(
      expectations.expected,
      deviceInPath(parts),
      async ({ params: { deviceId }, body }) =>
        expectedRange(await queriedDevice(deviceId, parts), body, queries),
    ),
    route(expectations.forecast, async ({ query, body }, principal) => {
      const { deviceIds, tagId, ...asked } = body;
      const devices = await devicesOf(deviceIds ?? undefined, tagId ?? undefined, principal, parts);
      return devicePage(devices, query, (shown) => forecasts(shown, asked, parts.now(), queries));
    }),
  ];
}

async function devicesOf(
  deviceIds: readonly string[] | undefined,
  tagId: string | undefined,
  principal: Principal,
  parts: Queries,
): Promise<readonly QueriedDevice[]> {
  if ((deviceIds === undefined) === (tagId === undefined))
    throw problem('invalidRequest', {
      reason: 'body: set exactly one of deviceIds and tagId',
    });
  if (tagId === undefined) return readableDevices(deviceIds ?? [], principal, parts);
  parts.authorize(principal, 'asset', 'read', await parts.placeOfTag(tagId));
  return parts.devicesOfTag(tagId);
}
