// Routes of the asset list (interface 4.2, contract 4).
import type { Static } from 'typebox';
import { assetListBody, assetListPageQuery, assetListQuery, deviceSchema } from '../../contract/device.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { type AssetFilter, listAssets } from '../../inventory/assets.ts';
import { pageSizeAssets } from '../../model/page.ts';
import { problem } from '../../model/problem.ts';
import { listOf, listScopeOf, pageRequestOf } from '../list-query.ts';
import { guardedRoute, type Route } from '../route.ts';
import type { RecordParts } from './record-parts.ts';

const tag = 'Assets';
const access = { scope: 'asset', verb: 'read', place: { narrowedByHandler: true } } as const;

/** Filters by things that no device here has; a list that passed over them would answer too much. */
const neverFilters = ['integrationId', 'packageName', 'provider', 'customFields.ids'];

export function assetRoutes({ records, now }: RecordParts): Route[] {
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/assets',
      summary: 'Devices of workspaces or of the organization',
      tag,
      access,
      query: assetListQuery,
      response: pageSchema(deviceSchema),
      handle: ({ query }, principal) =>
        listAssets(records, principal, filterOf(query), pageRequestOf(query, pageSizeAssets), now()),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/assets/list',
      summary: 'Devices that match a search',
      tag,
      access,
      query: assetListPageQuery,
      body: assetListBody,
      response: pageSchema(deviceSchema),
      handle: ({ query, body }, principal) => {
        const { organizationId, workspaceIds, search, expression } = body;
        if (expression !== undefined && expression !== null)
          throw problem('filterNotAvailable', { filter: 'expression' });
        const filter = {
          organizationId: organizationId ?? undefined,
          workspaceIds: workspaceIds ?? undefined,
          search: search ?? query.search,
        };
        return listAssets(records, principal, filter, pageRequestOf(query, pageSizeAssets), now());
      },
    }),
  ];
}

function filterOf(query: Static<typeof assetListQuery>): AssetFilter {
  const unavailable = Object.keys(query).find((name) => name.startsWith('loraProperties.'));
  if (unavailable !== undefined) throw problem('filterNotAvailable', { filter: unavailable });
  return {
    ...listScopeOf(query),
    search: query.search,
    type: query.type,
    dataFlowId: query.dataFlowId,
    connectivity: query.connectivity,
    onlineState: query.state,
    online: query.online,
    assetIds: listOf(query, 'assetIds'),
    tagIds: listOf(query, 'tags.ids'),
    never: neverFilters.some((name) => listOf(query, name) !== undefined),
  };
}
