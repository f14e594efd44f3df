// Routes of expected ranges and forecasts (contract 38).
import { expectations } from '../../contract/expected-range.ts';
import { problem } from '../../model/problem.ts';
import type { Principal } from '../../model/principal.ts';
import type { QueriedDevice } from '../../query/accumulation.ts';
import { expectedRange } from '../../query/expected-range.ts';
import { forecasts } from '../../query/forecast.ts';
import { resourceRoute, type Route, route } from '../edge/route.ts';
import { deviceInPath, queriedDevice, readableDevices } from './device-access.ts';
import { devicePage, type KpiQueryParts } from './kpi-queries.ts';

export function expectedRangeRoutes(parts: KpiQueryParts): Route[] {
  return [
    resourceRoute(
      expectations.expected,
      deviceInPath(parts),
      async ({ params: { deviceId }, body }) =>
        expectedRange(await queriedDevice(deviceId, parts), body, parts),
    ),
    route(expectations.forecast, async ({ query, body }, principal) => {
      const { deviceIds, tagId, ...asked } = body;
      const devices = await devicesOf(deviceIds ?? undefined, tagId ?? undefined, principal, parts);
      return devicePage(devices, query, (shown) => forecasts(shown, asked, parts.now(), parts));
    }),
  ];
}

async function devicesOf(
  deviceIds: readonly string[] | undefined,
  tagId: string | undefined,
  principal: Principal,
  parts: KpiQueryParts,
): Promise<readonly QueriedDevice[]> {
  if ((deviceIds === undefined) === (tagId === undefined))
    throw problem('invalidRequest', {
      reason: 'body: set exactly one of deviceIds and tagId',
    });
  if (tagId === undefined) return readableDevices(deviceIds ?? [], principal, parts);
  parts.authorize(principal, 'asset', 'read', await parts.placeOfTag(tagId));
  return parts.devicesOfTag(tagId);
}
