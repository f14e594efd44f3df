// Routes of the asset list (interface 4.2, contract 4).
import type { IncomingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import { type assetListQuery, assets } from '../../contract/devices.ts';
import { type AssetFilter, Assets } from '../../inventory/devices/assets.ts';
import { vendorDevice } from '../../inventory/devices/devices.ts';
import { type LoraField, loraFields } from '../../model/device.ts';
import type { PageRequest } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { route, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

const pageSizeAssets = 25;

export function assetRoutes({ records, aliased }: RecordRoutes): Route[] {
  const listed = async (
    principal: Principal,
    filter: AssetFilter,
    page: PageRequest,
    headers: IncomingHttpHeaders,
  ) => {
    const found = await new Assets(records).list(principal, filter, page);
    return aliased(headers) ? { ...found, content: found.content.map(vendorDevice) } : found;
  };
  return [
    route(assets.list, ({ query, headers }, principal) =>
      listed(principal, filterOf(query), pageRequestOf(query, pageSizeAssets), headers),
    ),
    route(assets.search, ({ query, body, headers }, principal) => {
      const filter = {
        organizationId: body.organizationId ?? undefined,
        workspaceIds: body.workspaceIds ?? undefined,
        search: body.search ?? query.search,
        expression: body.expression,
      };
      return listed(principal, filter, pageRequestOf(query, pageSizeAssets), headers);
    }),
    route(assets.filterOptions, ({ query }, principal) =>
      new Assets(records).options(principal, listScopeOf(query)),
    ),
    route(assets.searchFilterOptions, ({ body }, principal) => {
      const { organizationId, workspaceIds } = body;
      return new Assets(records).options(principal, {
        organizationId: organizationId ?? undefined,
        workspaceIds: workspaceIds ?? undefined,
      });
    }),
  ];
}

function filterOf(query: Static<typeof assetListQuery>): AssetFilter {
  return {
    ...listScopeOf(query),
    search: query.search,
    type: query.type,
    dataFlowId: query.dataFlowId,
    connectivity: query.connectivity,
    integrationId: query.integrationId,
    provider: query.provider,
    packageName: query.packageName,
    onlineState: query.state,
    online: query.online,
    assetIds: listOf(query, 'assetIds'),
    tagIds: listOf(query, 'tags.ids'),
    placeIds: listOf(query, 'places.ids'),
    customFieldIds: listOf(query, 'customFields.ids'),
    lora: loraFilterOf(query),
  };
}

const loraPrefix = 'loraProperties.';

/**
 * `loraProperties.carrier=TTN`: a field that is not an open one is rejected, because ignoring it
 * would return too many assets.
 */
function loraFilterOf(query: object): AssetFilter['lora'] {
  const wanted: Partial<Record<LoraField, string>> = {};
  for (const [name, value] of Object.entries(query)) {
    if (!name.startsWith(loraPrefix)) continue;
    const field = loraFields.find((known) => name === loraPrefix + known);
    if (field === undefined || typeof value !== 'string')
      throw problem('filterNotAvailable', { filter: name });
    wanted[field] = value;
  }
  return wanted;
}
